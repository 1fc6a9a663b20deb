import { RemoteFailure } from '@parley/rpc/line-peer'
import { INVALID_REQUEST } from './error-codes.ts'
import { LISTENERS_MAX } from './bounds.ts'
import type { Outbox } from './outbox.ts'

/** Who listens to which conversation. */
export class Listeners {
  readonly #newId: () => string
  readonly #isHeard: (outbox: Outbox) => boolean
  readonly #outboxes = new Map<string, Outbox>()

  /** `isHeard`: whether anything can still come out of it. */
  constructor(newId: () => string, isHeard: (outbox: Outbox) => boolean) {
    this.#newId = newId
    this.#isHeard = isHeard
  }

  add(outbox: Outbox): string {
    if (this.#outboxes.size >= LISTENERS_MAX) this.#forgetDeaf()
    if (this.#outboxes.size >= LISTENERS_MAX)
      throw new RemoteFailure(INVALID_REQUEST, `there are ${LISTENERS_MAX} listeners already: remove some first`)
    const subscription = this.#newId()
    this.#outboxes.set(subscription, outbox)
    outbox.listen(subscription)
    return subscription
  }

  remove(subscription: string): void {
    const outbox = this.#outboxes.get(subscription)
    if (outbox === undefined)
      throw new RemoteFailure(INVALID_REQUEST, `subscription not found: ${subscription}`, { param: 'subscriptionId' })
    this.#outboxes.delete(subscription)
    outbox.unlisten(subscription)
  }

  /** Those of conversations that were archived. */
  #forgetDeaf(): void {
    for (const [subscription, outbox] of this.#outboxes) if (!this.#isHeard(outbox)) this.#outboxes.delete(subscription)
  }
}
