import { resolve } from 'node:path'
import { type ConversationListener, ConversationUnknown } from '@parley/agent'
import type { BackedConversation, ConversationRef, OpenOrder } from '@parley/codex/port'
import type { Backend } from '../backend/backend.ts'
import type { LazyBackend } from '../backend/lazy-backend.ts'
import { OpenConversation } from './open-conversation.ts'

/** Conversations that are open at once. A backend holds 64: one that is being closed still has its place there. */
const OPEN_MAX = 60
/** Conversations that are remembered with how they were opened. */
const KNOWN_MAX = 1_000

export interface ConversationsOptions {
  readonly backend: LazyBackend
  readonly openMax?: number
  readonly log?: (level: 'debug' | 'info', line: string) => void
  /** It is not remembered any more. */
  readonly forgotten?: (id: string) => void
}

/** As many are open as may be, and each of them is needed. */
export class TooManyConversations extends Error {
  readonly code = 'too_many'
  readonly limit: number
  constructor(limit: number) {
    super(`${limit} conversations have a turn under way, and there may be no more at once: wait for one to end`)
    this.name = 'TooManyConversations'
    this.limit = limit
  }
}

interface Known {
  readonly rolloutPath: string
  /** As it was given: where the conversation works otherwise is for the backend to find and to look at again. */
  readonly order: OpenOrder
  /** Undefined for one that was closed because others needed its place. */
  open: OpenConversation | undefined
  /** While it lets go of its file: nobody can have it meanwhile. */
  closing?: Promise<void> | undefined
}

/**
 * The conversations of a server. The least used one is closed for one too many, and is resumed when it is asked for again:
 * nobody who holds its id knows of it.
 */
export class Conversations {
  readonly #options: ConversationsOptions
  /** By id, the least used first. */
  readonly #known = new Map<string, Known>()
  readonly #waking = new Map<string, Promise<OpenConversation>>()
  /** Those that the backend is opening. */
  #opening = 0

  constructor(options: ConversationsOptions) {
    this.#options = options
  }

  open(order: OpenOrder): Promise<OpenConversation> {
    return this.#add(order, (backend, listener) => backend.open(order, listener))
  }

  /** Goes on with one in its own way. If it is open, that is closed first: two of it would write to one file. */
  async resume(which: ConversationRef, order: OpenOrder): Promise<OpenConversation> {
    const known = [...this.#known].find(([id, { rolloutPath }]) =>
      'id' in which ? id === which.id.toLowerCase() : resolve(rolloutPath) === resolve(which.path),
    )
    await close(known?.[1])
    return this.#add(order, (backend, listener) => backend.resume(which, order, listener))
  }

  /**
   * One that is open, or was; then it goes on as it was opened. One that is not known here goes on in the way that is given
   * for such. Throws `ConversationUnknown`.
   */
  async find(id: string, unknown?: OpenOrder): Promise<OpenConversation> {
    const key = id.toLowerCase()
    const known = this.#known.get(key)
    if (known?.open !== undefined) {
      this.#keep(key, known)
      return known.open
    }
    const order = known?.order ?? unknown
    if (order === undefined) throw new ConversationUnknown(id)
    const waking = this.#waking.get(key) ?? this.#wake(key, order)
    this.#waking.set(key, waking)
    return waking
  }

  knows(id: string): boolean {
    return this.#known.has(id.toLowerCase())
  }

  /** Only if it is open. */
  openOne(id: string): OpenConversation | undefined {
    return this.#known.get(id.toLowerCase())?.open
  }

  /** The next who asks for it gets it resumed. */
  async close(conversation: OpenConversation): Promise<void> {
    const known = this.#known.get(conversation.backed.id)
    await (known?.open === conversation ? close(known) : conversation.close())
  }

  /** It is closed, and nobody gets it again. */
  async forget(id: string): Promise<void> {
    const key = id.toLowerCase()
    const known = this.#known.get(key)
    this.#known.delete(key)
    this.#options.forgotten?.(key)
    await close(known)
  }

  /** Begins to stop whatever runs; nothing that waits begins. */
  stop(failed: (error: unknown) => void): void {
    for (const conversation of this.#open()) {
      conversation.drop()
      conversation.backed.interrupt().catch(failed)
    }
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled(this.#open().map((conversation) => this.close(conversation)))
  }

  async #wake(key: string, order: OpenOrder): Promise<OpenConversation> {
    try {
      const conversation = await this.resume({ id: key }, order)
      this.#options.log?.('info', `conversation ${key} was resumed`)
      return conversation
    } finally {
      this.#waking.delete(key)
    }
  }

  async #add(
    order: OpenOrder,
    begin: (backend: Backend, listener: ConversationListener) => Promise<BackedConversation>,
  ): Promise<OpenConversation> {
    // The place counts from here on: of many who come at once, each must see the others.
    this.#opening += 1
    try {
      await this.#makeRoom()
      const conversation = new OpenConversation()
      const backed = await begin(await this.#options.backend.get(), conversation.listener)
      await close(this.#known.get(backed.id))
      conversation.attach(backed, order)
      this.#keep(backed.id, { rolloutPath: backed.rolloutPath, order, open: conversation })
      return conversation
    } finally {
      this.#opening -= 1
    }
  }

  async #makeRoom(): Promise<void> {
    const { openMax = OPEN_MAX, log } = this.#options
    for (let open = this.#open(); open.length + this.#opening > openMax; open = this.#open()) {
      const idle = open.find(({ canSleep }) => canSleep)
      if (idle === undefined) throw new TooManyConversations(openMax)
      log?.('debug', `conversation ${idle.backed.id} was idle and is closed`)
      await this.close(idle)
    }
  }

  /** As the one that was used last. */
  #keep(id: string, known: Known): void {
    this.#known.delete(id)
    this.#known.set(id, known)
    if (this.#known.size <= KNOWN_MAX) return
    const [least] = [...this.#known].find(([, { open }]) => open === undefined) ?? []
    if (least !== undefined) void this.forget(least)
  }

  #open(): OpenConversation[] {
    return [...this.#known.values()].flatMap(({ open }) => open ?? [])
  }
}

async function close(known: Known | undefined): Promise<void> {
  const { open } = known ?? {}
  if (known !== undefined && open !== undefined) {
    known.open = undefined
    known.closing = open.close().finally(() => (known.closing = undefined))
  }
  await known?.closing
}
