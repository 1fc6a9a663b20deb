import { RecentMap } from '@parley/rpc'
import type { FoundKey } from './model-key.ts'
import { ModelRefusal } from './refusal.ts'

const KEYS_MAX = 10_000

/**
 * What one attempt may take beside tokens and money: requests and time. Counted by this gateway alone and forgotten with it:
 * they stop an engine that runs wild, the books stop the spending.
 */
export class AttemptBounds {
  readonly #requests = new RecentMap<string, number>(KEYS_MAX)

  /** Counts one more request, or refuses it. */
  take({ key }: FoundKey, now: number): void {
    const { requests, wall_ms: wallMs } = key.budget
    if (wallMs !== null && now - key.createdAt > wallMs)
      throw new ModelRefusal(429, 'budget_exceeded', `budget.wall_ms: the ${wallMs} ms of this attempt are over`, {
        closes: true,
      })
    const taken = this.#requests.get(key.hash) ?? 0
    if (requests !== null && taken >= requests)
      throw new ModelRefusal(429, 'budget_exceeded', `budget.requests: this attempt has made its ${requests} requests`, {
        closes: true,
      })
    this.#requests.set(key.hash, taken + 1)
  }
}
