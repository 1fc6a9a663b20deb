import { type JsonObject, RPC_CODES, isJsonObject } from '@parley/protocol'
import type * as z from 'zod'
import type { Bridge } from '@parley/codex'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { BackendError } from '@parley/codex/port'

/** Asks Codex and reads the answer. What it refuses is a `BackendError` in its own words. */
export async function asked<Schema extends z.ZodType>(
  bridge: Pick<Bridge, 'ask'>,
  schema: Schema,
  [method, params]: readonly [method: string, params?: JsonObject],
): Promise<z.output<Schema>> {
  try {
    const answer = await bridge.ask(method, params)
    const parsed = schema.safeParse(isJsonObject(answer) ? answer : {})
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    throw new BackendError(
      'failed',
      `Codex answered ${method} in an unknown way: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
      {
        cause: parsed.error,
      },
    )
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error
    throw new BackendError(error.code === RPC_CODES.internal_error ? 'failed' : 'invalid_request', error.message, {
      cause: error,
    })
  }
}
