import { resolve } from 'node:path'
import type { BackedConversation, ConversationRef, EventMessage, OpenOrder } from '@parley/codex/port'
import type { Backend } from '../backend/backend.ts'
import { openTranslator } from '../event/open-translator.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { conversationNotFound } from './answer-error.ts'
import { INVALID_REQUEST } from './error-codes.ts'
import { AppConversation } from './app-conversation.ts'
import type { Approvals } from './approvals.ts'
import { ASLEEP_MAX } from './bounds.ts'
import { Listeners } from './listeners.ts'
import type { Notes } from './notes.ts'
import { Outbox } from './outbox.ts'

export interface ConversationsOptions {
  readonly approvals: Approvals
  readonly notes: Notes
  /** Where a conversation is that does not say. */
  readonly folder: string
  readonly newId: () => string
  /** How many the backend is asked to hold at once. */
  readonly openMax: number
  readonly backend: () => Promise<Backend>
  /** How a conversation was opened that the tools on the same wire have open. */
  readonly held: (id: string) => OpenOrder | undefined
  readonly send: (line: string) => void
  readonly line: (conversationId: string, submission: string, msg: EventMessage) => string
}

/** One that was closed because others needed its place. The client knows nothing of it. */
interface Asleep {
  readonly id: string
  readonly rolloutPath: string
  readonly order: OpenOrder
  readonly outbox: Outbox
}

/**
 * The conversations of a client. Codex holds as many as are opened; here the one that was idle longest makes room for the
 * next, and is resumed when it is spoken to again.
 */
export class Conversations {
  readonly listeners: Listeners
  readonly #options: ConversationsOptions
  /** Those used last stand last. */
  readonly #open = new Map<string, AppConversation>()
  readonly #asleep = new Map<string, Asleep>()
  /** Those that the backend is opening. */
  #opening = 0

  constructor(options: ConversationsOptions) {
    this.#options = options
    this.listeners = new Listeners(options.newId, (outbox) => this.#isHeard(outbox))
  }

  /** Throws what the client hears of an id that nobody knows. */
  async get(id: string): Promise<AppConversation> {
    const found = this.#open.get(id)
    if (found !== undefined) {
      this.#open.delete(id)
      this.#open.set(id, found)
      return found
    }
    const order = this.#asleep.get(id)?.order ?? this.#options.held(id)
    if (order === undefined) throw conversationNotFound(id)
    return this.resume({ id }, order)
  }

  /** One that may have a turn under way; undefined for one that sleeps. */
  async awake(id: string): Promise<AppConversation | undefined> {
    return this.#asleep.has(id) ? undefined : this.get(id)
  }

  /** Undefined as well for one that sleeps. */
  find(id: string): AppConversation | undefined {
    return this.#open.get(id)
  }

  /** Of one that is open or sleeps, here or with the tools. */
  async outbox(id: string): Promise<Outbox> {
    return (this.#open.get(id) ?? this.#asleep.get(id) ?? (await this.get(id))).outbox
  }

  open(order: OpenOrder): Promise<AppConversation> {
    return this.#add(order, this.#newOutbox(), (backend, listener) => backend.open(order, listener))
  }

  /** One that is open here is closed first: two of it would write to one file. Who listened to it goes on to. */
  async resume(which: ConversationRef, order: OpenOrder): Promise<AppConversation> {
    const open = [...this.#open.values()].find(({ backed }) => isThis(backed, which))
    const asleep = [...this.#asleep.values()].find((sleeper) => isThis(sleeper, which))
    if (open !== undefined) await this.close(open)
    const outbox = open?.outbox ?? asleep?.outbox ?? this.#newOutbox()
    const conversation = await this.#add(order, outbox, (backend, listener) => backend.resume(which, order, listener))
    this.#asleep.delete(conversation.backed.id)
    return conversation
  }

  /** Its listeners stay until they are removed; they hear nothing more. */
  async close(conversation: AppConversation): Promise<void> {
    const { id } = conversation.backed
    if (this.#open.get(id) === conversation) this.#open.delete(id)
    await conversation.close()
  }

  /** After it was archived. */
  forget(id: string): void {
    this.#asleep.delete(id)
  }

  /** Begins to stop whatever runs. */
  interruptAll(): void {
    for (const conversation of this.#open.values()) conversation.stop()
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((conversation) => this.close(conversation)))
  }

  async #add(
    order: OpenOrder,
    outbox: Outbox,
    begin: (backend: Backend, listener: AppConversation['listener']) => Promise<BackedConversation>,
  ): Promise<AppConversation> {
    const { approvals, notes, folder, line } = this.#options
    await this.#makeRoom()
    const note = (text: string): void => notes.say(text)
    const conversation = new AppConversation({ outbox, approvals, line, note })
    this.#opening += 1
    try {
      const backed = await begin(await this.#options.backend(), conversation.listener)
      const twin = this.#open.get(backed.id)
      if (twin !== undefined) await this.close(twin)
      // One that goes on without a word about it works where it did before.
      const placed = { ...order, folder: order.folder ?? backed.folder ?? folder }
      conversation.attach(backed, placed, (later) => openTranslator('0.44', backed, { order: placed, later }))
      this.#open.set(backed.id, conversation)
      return conversation
    } finally {
      this.#opening -= 1
    }
  }

  async #makeRoom(): Promise<void> {
    const { openMax } = this.#options
    while (this.#open.size + this.#opening >= openMax) {
      const oldest = [...this.#open.values()].find(({ canSleep }) => canSleep)
      if (oldest === undefined || this.#asleep.size >= ASLEEP_MAX)
        throw new RemoteFailure(INVALID_REQUEST, `${openMax} conversations are at work: interrupt or archive some first`)
      const { backed, order, outbox } = oldest
      this.#asleep.set(backed.id, { id: backed.id, rolloutPath: backed.rolloutPath, order, outbox })
      await this.close(oldest)
    }
  }

  #newOutbox(): Outbox {
    const { send, notes } = this.#options
    const lost = (): void => notes.say('a conversation has no listener and too many events: the oldest are dropped')
    return new Outbox({ send, lost })
  }

  #isHeard(outbox: Outbox): boolean {
    return [...this.#open.values(), ...this.#asleep.values()].some((known) => known.outbox === outbox)
  }
}

function isThis({ id, rolloutPath }: { readonly id: string; readonly rolloutPath: string }, which: ConversationRef): boolean {
  return 'id' in which ? id === which.id : resolve(rolloutPath) === resolve(which.path)
}
