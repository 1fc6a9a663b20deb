import { type HttpAnswer, HttpCallFailed } from '@parley/fetch'
import type { Count } from './count.ts'
import type { Mask } from '../secret/mask.ts'
import type { ModelCall } from './model-call.ts'

/**
 * Hands an answer on piece by piece, as fast as the client takes it, and reads along. The call is booked before the piece goes
 * out that ends the answer: who has seen the end finds it booked.
 */
export async function* passAnswer(
  answer: Pick<HttpAnswer, 'body'>,
  call: ModelCall,
  options: {
    readonly count: Count
    readonly mask: Mask
    readonly outputTokensMax: number | undefined
    readonly now: () => number
  },
): AsyncGenerator<Uint8Array> {
  const { count, mask, outputTokensMax = Infinity, now } = options
  try {
    let held: Buffer | undefined
    for await (const piece of answer.body) {
      count.push(piece)
      const { final, writtenTokens } = count.passed
      if (final) await call.settle()
      else if (writtenTokens > outputTokensMax) return call.cut('over_budget')
      if (call.signal.aborted) return
      const safe = mask.push(piece)
      if (safe.length === 0) continue
      // A document says what it came to only when it is whole: its last piece waits for that.
      const next: Buffer | undefined = count.isDocument ? held : safe
      held = safe
      if (next === undefined) continue
      call.heldSince = now()
      yield next
      call.heldSince = undefined
    }
    count.end()
    await call.settle()
    if (count.isDocument && held !== undefined) yield held
    const rest = mask.flush()
    if (rest.length > 0) yield rest
  } catch (error) {
    if (!(error instanceof HttpCallFailed)) throw error
    call.cut('upstream_cut')
  } finally {
    await call.end()
  }
}
