import type { ModelWire, Rate } from '@parley/protocol'
import { type FoundModelKey, type Store, onceAtATime } from '@parley/store'
import { MeterTable } from '@parley/rpc'
import type { Logger } from 'pino'
import type { CallCounts } from './call-counts.ts'
import { holderOf } from './key-holder.ts'
import { ModelCall } from './model-call.ts'
import { overBecause } from './model-key.ts'
import { ModelRefusal } from './refusal.ts'

/** Requests that one key may have under way, and how fast it may send them. */
const CALLS_PER_KEY = 4
const REQUESTS: Rate = { perSecond: 10, burst: 60 }
const KEYS_METERED_MAX = 10_000
/** How often everything under way is looked at. */
const TICK_MS = 1_000
/** Shorter than what makes a reservation stale, so that nobody settles a call that still runs. */
const CALL_MAX_MS = 14 * 60_000
/** A client that takes nothing for so long is cut. */
const STALLED_MS = 60_000

export interface ActiveCallsOptions {
  readonly store: Pick<Store, 'modelKeys' | 'topics'>
  readonly counts: CallCounts
  readonly log: Logger
  readonly now: () => number
}

/** A key with requests under way. */
interface KeyInUse {
  found: FoundModelKey
  readonly calls: Set<ModelCall>
  readonly look: () => void
  readonly unsubscribe: () => void
}

/** The requests under way: how many one key may have, and for how long. */
export class ActiveCalls {
  readonly #options: ActiveCallsOptions
  readonly #keys = new Map<string, KeyInUse>()
  readonly #meters: MeterTable
  #timer: NodeJS.Timeout | undefined
  #idle: (() => void)[] = []

  constructor(options: ActiveCallsOptions) {
    this.#options = options
    this.#meters = new MeterTable(REQUESTS, KEYS_METERED_MAX, options.now)
  }

  /** Takes a request on, or says that its key has enough. Whoever gets a call must `end` it. */
  enter(id: string, wire: ModelWire, found: FoundModelKey): ModelCall {
    const { hash } = found.key
    const meter = this.#meters.get(hash)
    if (!meter.take())
      throw new ModelRefusal(429, 'rate_limited', 'this key makes too many requests; slow down', {
        retryAfterSeconds: meter.waitSeconds,
      })
    const inUse = this.#keys.get(hash) ?? this.#use(found)
    if (inUse.calls.size >= CALLS_PER_KEY)
      throw new ModelRefusal(429, 'rate_limited', `a key has at most ${CALLS_PER_KEY} requests at once`, { retryAfterSeconds: 1 })
    const { counts, now } = this.#options
    const call = new ModelCall({ id, wire, found, startedAt: now(), ended: (ended) => this.#left(hash, ended) })
    inUse.calls.add(call)
    counts.entered()
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref()
    return call
  }

  /** Cuts what is under way and waits until all of it is booked. */
  async close(): Promise<void> {
    for (const { calls } of this.#keys.values()) for (const call of calls) call.cut('closing')
    if (this.#keys.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #use(found: FoundModelKey): KeyInUse {
    const { hash } = found.key
    const { store, log } = this.#options
    const look = onceAtATime(
      () => this.#look(inUse),
      (error) => log.error({ err: error }, 'a key in use could not be looked at'),
    )
    const unsubscribe = store.topics.subscribe(holderOf(found).topic, look)
    const inUse: KeyInUse = { found, calls: new Set(), look, unsubscribe }
    this.#keys.set(hash, inUse)
    return inUse
  }

  #left(hash: string, call: ModelCall): void {
    const { counts, log, now } = this.#options
    const { id, wire, outcome, startedAt, found } = call
    counts.left()
    if (outcome !== undefined) {
      counts.ended(wire, outcome)
      const { logged } = holderOf(found)
      log.info({ ...logged, call: id, wire, outcome, ms: now() - startedAt }, 'a model was asked')
    }
    const inUse = this.#keys.get(hash)
    inUse?.calls.delete(call)
    if (inUse === undefined || inUse.calls.size > 0) return
    inUse.unsubscribe()
    this.#keys.delete(hash)
    if (this.#keys.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #tick(): void {
    const now = this.#options.now()
    for (const { calls, look } of this.#keys.values()) {
      for (const call of calls) {
        if (now - call.startedAt > CALL_MAX_MS) call.cut('too_long')
        else if (call.heldSince !== undefined && now - call.heldSince > STALLED_MS) call.cut('client_stalled')
      }
      look()
    }
  }

  /** Asks the store whether the key still works. While it cannot say, what it said last holds, until that runs out. */
  async #look(inUse: KeyInUse): Promise<void> {
    const { store, now, log } = this.#options
    const found = await store.modelKeys.find(inUse.found.key.hash).catch((error: unknown) => {
      log.warn({ err: error }, 'the database does not answer about a key')
      return inUse.found
    })
    if (found !== undefined) inUse.found = found
    const over = found === undefined ? 'it was replaced' : overBecause(found, now())
    if (over !== undefined) for (const call of inUse.calls) call.cut('key_over')
  }
}
