import { type JobId, TokenUsage, type Usage, isJsonObject, wrongArgument } from '@parley/protocol'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClaimKey, type JobRecord, jobHolder } from '@parley/store'
import type { JudgeWorld } from './judge-world.ts'

const Tokens = TokenUsage.extend({
  cached_input_tokens: TokenUsage.shape.cached_input_tokens.default(0),
  cached_output_tokens: TokenUsage.shape.cached_output_tokens.default(0),
  reasoning_output_tokens: TokenUsage.shape.reasoning_output_tokens.default(0),
})

/** What a judge tells about one call of a model. */
export interface ToldUsage {
  readonly model: string
  readonly threadId: string | null
  readonly tokens: TokenUsage
}

/** `usage.json` is written again when another call was booked meanwhile; so often at most. */
const WRITES_MAX = 5
const TEXT_MAX_CHARS = 256
/** How long the end of a job waits for calls that are being booked. */
const SETTLE_WAIT_MS = 1_500
const SETTLE_POLL_MS = 50
const PARTS = [
  ['cached_input_tokens', 'input_tokens'],
  ['cached_output_tokens', 'output_tokens'],
  ['reasoning_output_tokens', 'output_tokens'],
] as const

/** As the store has it: whoever says more is broken. */
const CALL_TOKENS_MAX = 1_000_000_000_000

/** The tokens of one call: as in `usage.json`, with its own `usage` inside, or flat. */
export function readUsage(document: Record<string, unknown>, model: string | null): ToldUsage {
  const isNested = isJsonObject(document['usage'])
  const path = isNested ? 'usage.usage' : 'usage'
  const parsed = Tokens.safeParse(isNested ? document['usage'] : document)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw wrongArgument([path, ...(issue?.path ?? []).map(String)].join('.'), issue?.message ?? 'is wrong')
  }
  const tokens = parsed.data
  for (const whole of ['input_tokens', 'output_tokens'] as const)
    if (tokens[whole] > CALL_TOKENS_MAX) throw wrongArgument(`${path}.${whole}`, `must be at most ${CALL_TOKENS_MAX}`)
  for (const [part, whole] of PARTS)
    if (tokens[part] > tokens[whole]) throw wrongArgument(`${path}.${part}`, `is a part of ${whole}, so it cannot be more`)
  const text = (field: string): string | undefined => {
    const value = document[field]
    return typeof value === 'string' ? value.slice(0, TEXT_MAX_CHARS) : undefined
  }
  return { model: text('model') ?? model ?? '', threadId: text('codex_thread_id') ?? null, tokens }
}

/** Brings `usage.json` up to what is booked. */
export async function writeUsage({ store }: JudgeWorld, key: ClaimKey, job: JobRecord, attempt: number): Promise<void> {
  let written: string | undefined
  for (let tries = 0; tries < WRITES_MAX; tries += 1) {
    const document = JSON.stringify(await usageOf(store, job))
    if (document === written) return
    const { sha256, bytes } = await store.blobs.put(Buffer.from(document), jobHolder(job.id))
    await store.jobs.putArtifacts(key, [{ name: 'usage.json', attempt, sha256, bytes }])
    written = document
  }
}

/** The same at the end of a job: a call that was cut a moment ago may still be on its way into the books. */
export async function writeLastUsage(world: JudgeWorld, key: ClaimKey, job: JobRecord): Promise<void> {
  const deadline = world.now() + SETTLE_WAIT_MS
  while ((await isSettling(world, job.id)) && world.now() < deadline) await sleep(SETTLE_POLL_MS)
  // Whoever still holds a reservation died with it: its stream would have been cut by now.
  await world.store.usages.settleJob(job.id)
  await writeUsage(world, key, job, Math.max(1, job.attempt))
}

async function isSettling({ store: { usages } }: JudgeWorld, id: JobId): Promise<boolean> {
  const [{ tokens }, booked] = await Promise.all([usages.spentOnJob(id), usages.totalOf(id)])
  return tokens !== booked.input_tokens + booked.output_tokens
}

async function usageOf({ usages }: JudgeWorld['store'], job: JobRecord): Promise<Usage> {
  const { calls, unpriced_calls, estimated_calls, cost_microusd, ...usage } = await usages.totalOf(job.id)
  const last = (await usages.ofJob(job.id)).at(-1)
  return {
    schema_version: 'usage.v1',
    job_id: job.id,
    codex_thread_id: last?.threadId ?? null,
    model: last?.model ?? job.spec.model ?? '',
    usage,
    cost_microusd: calls === 0 ? null : cost_microusd,
    calls,
    unpriced_calls,
    estimated_calls,
    script: last?.source === 'script',
  }
}
