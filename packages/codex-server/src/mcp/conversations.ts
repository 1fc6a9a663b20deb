import type { Backend } from '../backend/backend.ts'
import type { EventDialect } from '../event/translator.ts'
import type { OpenOrder } from '@parley/codex/port'
import type { LogLine } from './mcp-server-options.ts'
import { Talk } from './talk.ts'

export interface ConversationsOptions {
  readonly backend: () => Promise<Backend>
  readonly dialect: EventDialect
  /** For a conversation of an earlier process. */
  readonly defaults: OpenOrder
  readonly limit: number
  readonly log: LogLine
}

/** There are as many conversations as there may be, and each has something to do. */
class TooManyConversations extends Error {
  readonly code = 'too_many'
  constructor(limit: number) {
    super(`${limit} conversations have a turn under way, and there may be no more at once: wait for one to end`)
    this.name = 'TooManyConversations'
  }
}

/** How many conversations are remembered with how they were opened, for when they are asked for again. */
const REMEMBERED = 1_024

/** The conversations of this server. Whoever gets one has it claimed and must `release` it. */
export class Conversations {
  readonly #options: ConversationsOptions
  /** In the order of their last use, oldest first. */
  readonly #talks = new Map<string, Talk>()
  readonly #resuming = new Map<string, Promise<Talk>>()
  readonly #orders = new Map<string, OpenOrder>()
  #opening = 0

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  async open(order: OpenOrder): Promise<Talk> {
    return this.#place(async () => {
      const backend = await this.#options.backend()
      const talk = new Talk(order, this.#options.dialect)
      const conversation = await backend.open(order, talk.listener)
      talk.attach(conversation)
      this.#remember(conversation.id, order)
      this.#talks.set(conversation.id, talk)
      talk.claims += 1
      return talk
    })
  }

  /** One that is open, or was once. Throws `ConversationUnknown` of `@parley/agent`. */
  async find(id: string): Promise<Talk> {
    const open = this.#talks.get(id)
    if (open !== undefined) {
      open.claims += 1
      return open
    }
    let resuming = this.#resuming.get(id)
    if (resuming === undefined) {
      resuming = this.#resume(id).finally(() => this.#resuming.delete(id))
      this.#resuming.set(id, resuming)
    }
    const talk = await resuming
    talk.claims += 1
    return talk
  }

  release(talk: Talk): void {
    talk.claims -= 1
    const { id } = talk.conversation
    if (this.#talks.get(id) !== talk) return
    this.#talks.delete(id)
    this.#talks.set(id, talk)
  }

  /** It was closed by somebody else: the next who asks for it gets it resumed. */
  forget(talk: Talk): void {
    if (this.#talks.get(talk.conversation.id) === talk) this.#talks.delete(talk.conversation.id)
  }

  #resume(id: string): Promise<Talk> {
    return this.#place(async () => {
      const backend = await this.#options.backend()
      const order = this.#orders.get(id) ?? this.#options.defaults
      const talk = new Talk(order, this.#options.dialect)
      talk.attach(await backend.resume({ id }, order, talk.listener))
      this.#options.log('info', `conversation ${id} was resumed`)
      this.#remember(id, order)
      this.#talks.set(id, talk)
      return talk
    })
  }

  async #place<T>(open: () => Promise<T>): Promise<T> {
    // The place counts from here on: of many who come at once, each must see the others.
    this.#opening += 1
    try {
      await this.#makeRoom()
      return await open()
    } finally {
      this.#opening -= 1
    }
  }

  async #makeRoom(): Promise<void> {
    const { limit, log } = this.#options
    while (this.#talks.size + this.#opening > limit) {
      const idle = [...this.#talks.values()].find(({ claims }) => claims === 0)
      if (idle === undefined) throw new TooManyConversations(limit)
      this.forget(idle)
      log('debug', `conversation ${idle.conversation.id} was idle and is closed`)
      await idle.conversation.close()
    }
  }

  #remember(id: string, order: OpenOrder): void {
    this.#orders.delete(id)
    this.#orders.set(id, order)
    const [oldest] = this.#orders.keys()
    if (this.#orders.size > REMEMBERED && oldest !== undefined) this.#orders.delete(oldest)
  }
}
