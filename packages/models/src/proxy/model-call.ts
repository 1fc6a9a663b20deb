import type { ModelWire } from '@parley/protocol'
import type { FoundModelKey } from '@parley/store'
import type { Booking } from './booking.ts'
import type { Count, Passed } from './count.ts'
import { ModelRefusal } from './refusal.ts'

/** Why a call ended before its answer did. */
export type CutReason = 'client_gone' | 'key_over' | 'too_long' | 'client_stalled' | 'closing' | 'upstream_cut' | 'over_budget'

const CUT = new ModelRefusal(502, 'upstream_cut', 'the model’s server broke off before it answered')
const REFUSALS: Record<CutReason, ModelRefusal> = {
  client_gone: CUT,
  client_stalled: CUT,
  upstream_cut: CUT,
  over_budget: new ModelRefusal(429, 'budget_exceeded', 'the budget was used up meanwhile'),
  key_over: new ModelRefusal(
    401,
    'expired_api_key',
    'this key does not work any more: its claim, its job or its turn ended meanwhile',
  ),
  too_long: new ModelRefusal(504, 'upstream_timeout', 'the model’s server did not answer in time'),
  closing: new ModelRefusal(503, 'draining', 'shutting down; come back in a moment', { retryAfterSeconds: 2 }),
}
const NOTHING = { tokens: undefined, final: false, writtenTokens: 0 } as const

/**
 * One request under way, from the moment its key was accepted until it is booked. `end` happens once and always: at the end of
 * the answer, or when the client, the key, the upstream or the gateway is gone.
 */
export class ModelCall {
  readonly id: string
  readonly found: FoundModelKey
  readonly wire: ModelWire
  readonly startedAt: number
  readonly #cut = new AbortController()
  readonly #ended: (call: ModelCall) => void
  #end: Promise<void> | undefined
  #reason: CutReason | undefined
  #booking: Booking | undefined
  #count: Count | undefined
  /** What the model answered with: `ok`, or the kind of its failure. */
  answered: string | undefined
  /** Since when the client has not taken the last piece; `undefined` while we wait for the upstream. */
  heldSince: number | undefined

  constructor(options: {
    readonly id: string
    readonly found: FoundModelKey
    readonly wire: ModelWire
    readonly startedAt: number
    readonly ended: (call: ModelCall) => void
  }) {
    this.id = options.id
    this.found = options.found
    this.wire = options.wire
    this.startedAt = options.startedAt
    this.#ended = options.ended
  }

  /** Aborted when the call is cut: ends the request upstream and the answer downstream. */
  get signal(): AbortSignal {
    return this.#cut.signal
  }
  /** What the client hears when the call was cut before anything went out; `undefined`: it was not cut. */
  get cutRefusal(): ModelRefusal | undefined {
    return this.#reason === undefined ? undefined : REFUSALS[this.#reason]
  }
  /** How it went, in a word; `undefined` for a request that never went to a model. */
  get outcome(): string | undefined {
    return this.#reason ?? this.answered
  }

  /** From now on the end of the call settles this reservation. */
  reserved(booking: Booking): void {
    this.#booking = booking
  }
  counts(count: Count): void {
    this.#count = count
  }

  /**
   * Books what passed so far. An answer that came to its end or broke off by itself before the model had written anything, and
   * without a word about its tokens, came to nothing. Where it was we who hung up, the model was at work on the request.
   */
  async settle(): Promise<void> {
    const passed = this.#count?.passed ?? NOTHING
    const isOurs = this.#reason !== undefined && this.#reason !== 'upstream_cut'
    if (isOurs && !passed.final) return this.#booking?.settleWhole(passed)
    return passed.tokens === undefined && passed.writtenTokens === 0 ? this.drop() : this.book(passed)
  }
  async book(passed: Passed): Promise<void> {
    await this.#booking?.settle(passed)
  }
  async drop(): Promise<void> {
    await this.#booking?.drop()
  }

  cut(reason: CutReason): void {
    if (this.#end !== undefined) return
    // Many clients go when they have heard the last event: that is a call like any other.
    if (this.#count?.passed.final !== true) this.#reason = reason
    this.discard()
  }
  /** Nobody wants the rest of the answer. */
  discard(): void {
    this.#cut.abort()
    void this.end()
  }

  /** Settles what is not settled and leaves. */
  end(): Promise<void> {
    return (this.#end ??= this.settle().finally(() => {
      this.#ended(this)
    }))
  }
}
