import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelPrices, NO_TOKENS, type TokenUsage, type UsageId, costOf } from '@parley/protocol'
import type { Usages } from '@parley/store'
import type { Logger } from 'pino'
import type { CallCounts } from './call-counts.ts'
import type { Passed } from './count.ts'

/** How often a database that does not answer is asked again. After that the sweep settles the reservation. */
const WAITS_MS = [100, 500, 2_000] as const

export interface BookingOptions {
  readonly usages: Pick<Usages, 'book' | 'drop'>
  readonly id: UsageId
  readonly callId: string
  /** What the request was guessed to come to, and what was set aside for its answer. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly prices: ModelPrices
  readonly counts: CallCounts
  readonly log: Logger
}

/** The reservation of one call. It is settled once, by whatever comes first: its end, a cut, a failure. */
export class Booking {
  readonly #options: BookingOptions
  #settled: Promise<void> | undefined

  constructor(options: BookingOptions) {
    this.#options = options
  }

  /** Books what passed: the provider's numbers, or our own estimate where it told none. */
  settle(passed: Passed): Promise<void> {
    return (this.#settled ??= this.#book(passed))
  }

  /**
   * Books what was set aside, or more where more has passed. Where we hung up, nobody tells what the model had thought and
   * written by then: booked by what was seen, whoever hangs up early would think for nothing.
   */
  settleWhole({ tokens, writtenTokens }: Passed): Promise<void> {
    const { inputTokens, outputTokens } = this.#options
    const most: TokenUsage = {
      ...NO_TOKENS,
      input_tokens: Math.max(inputTokens, tokens?.input_tokens ?? 0),
      output_tokens: Math.max(outputTokens, writtenTokens, tokens?.output_tokens ?? 0),
    }
    return (this.#settled ??= this.#book({ tokens: most, final: false, writtenTokens }))
  }

  /** Nothing was asked of the model, or it refused: there is nothing to pay. */
  drop(): Promise<void> {
    const { usages, id } = this.#options
    return (this.#settled ??= this.#write(() => usages.drop(id)))
  }

  async #book({ tokens: told, final, writtenTokens }: Passed): Promise<void> {
    const { usages, id, inputTokens, prices, counts } = this.#options
    const tokens: TokenUsage = told ?? { ...NO_TOKENS, input_tokens: inputTokens, output_tokens: writtenTokens }
    const costMicrousd = costOf(tokens, prices)
    counts.booked(tokens, costMicrousd)
    await this.#write(() => usages.book(id, { tokens, costMicrousd, estimated: told === undefined || !final }))
  }

  async #write(write: () => Promise<unknown>): Promise<void> {
    for (const waitMs of [...WAITS_MS, undefined])
      try {
        return void (await write())
      } catch (error) {
        const { log, callId } = this.#options
        if (waitMs === undefined)
          return log.error({ err: error, call: callId }, 'a call of a model could not be booked; the sweep does it')
        await sleep(waitMs)
      }
  }
}
