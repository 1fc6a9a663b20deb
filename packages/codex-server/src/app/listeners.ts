import type { OpenConversation } from '../conversation/open-conversation.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { LISTENERS_MAX } from './bounds.ts'
import { Outbox, type OutboxOptions } from './outbox.ts'
import { Submissions, type SubmissionsOptions } from './submissions.ts'

export interface ListenersOptions extends OutboxOptions, Omit<SubmissionsOptions, 'conversation' | 'outbox'> {
  readonly newId: () => string
}

/** Who listens to which conversation: also to one that sleeps, or is resumed meanwhile. */
export class Listeners {
  readonly #options: ListenersOptions
  readonly #submissions = new WeakMap<OpenConversation, Submissions>()
  readonly #byConversation = new Map<string, Outbox>()
  readonly #bySubscription = new Map<string, Outbox>()

  constructor(options: ListenersOptions) {
    this.#options = options
  }

  /** The client's side of an open conversation, which is told of from the first time on. */
  join(conversation: OpenConversation): Submissions {
    const outbox = this.outboxOf(conversation.backed.id)
    const submissions = this.#submissions.get(conversation) ?? new Submissions({ ...this.#options, conversation, outbox })
    this.#submissions.set(conversation, submissions)
    return submissions
  }

  outboxOf(conversationId: string): Outbox {
    const outbox = this.#byConversation.get(conversationId) ?? new Outbox(this.#options)
    this.#byConversation.set(conversationId, outbox)
    return outbox
  }

  add(outbox: Outbox): string {
    if (this.#bySubscription.size >= LISTENERS_MAX) this.#forgetDeaf()
    if (this.#bySubscription.size >= LISTENERS_MAX)
      throw new RemoteFailure('invalid_request', `there are ${LISTENERS_MAX} listeners already: remove some first`)
    const subscription = this.#options.newId()
    this.#bySubscription.set(subscription, outbox)
    outbox.listen(subscription)
    return subscription
  }

  remove(subscription: string): void {
    const outbox = this.#bySubscription.get(subscription)
    if (outbox === undefined)
      throw new RemoteFailure('invalid_request', `subscription not found: ${subscription}`, { param: 'subscriptionId' })
    this.#bySubscription.delete(subscription)
    outbox.unlisten(subscription)
  }

  /** Those who listen to it stay until they are removed; they hear nothing more. */
  forget(conversationId: string): void {
    this.#byConversation.delete(conversationId)
  }

  #forgetDeaf(): void {
    const heard = new Set(this.#byConversation.values())
    for (const [subscription, outbox] of this.#bySubscription) if (!heard.has(outbox)) this.#bySubscription.delete(subscription)
  }
}
