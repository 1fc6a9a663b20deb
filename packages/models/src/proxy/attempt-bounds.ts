import { RecentMap } from '@parley/protocol'
import type { FoundModelKey } from '@parley/store'
import { holderOf } from './key-holder.ts'
import { ModelRefusal } from './refusal.ts'

const KEYS_MAX = 10_000

/**
 * What one attempt or turn may take beside tokens and money: requests and time. Counted by this gateway alone and forgotten with it:
 * they stop an engine that runs wild, the books stop the spending.
 */
export class AttemptBounds {
  readonly #requests = new RecentMap<string, number>(KEYS_MAX)

  /** Counts one more request, or refuses it. */
  take(found: FoundModelKey, now: number): void {
    const { key } = found
    const { requests, wall_ms: wallMs } = key.budget
    const { budget, round } = holderOf(found)
    if (wallMs !== null && now - key.createdAt > wallMs)
      throw new ModelRefusal(429, 'budget_exceeded', `${budget}.wall_ms: the ${wallMs} ms of this ${round} are over`, {
        closes: true,
      })
    const taken = this.#requests.get(key.hash) ?? 0
    if (requests !== null && taken >= requests)
      throw new ModelRefusal(429, 'budget_exceeded', `${budget}.requests: this ${round} has made its ${requests} requests`, {
        closes: true,
      })
    this.#requests.set(key.hash, taken + 1)
  }
}
