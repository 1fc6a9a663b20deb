import { type ConversationListener, ConversationUnknown } from '@parley/agent'
import { type JsonObject, type JsonValue, RPC_CODES, messageOf } from '@parley/protocol/wire'
import type { BackedConversation, ConversationRef } from '../port/backed-conversation.ts'
import { BackendError } from '../port/backend-error.ts'
import type { OpenOrder } from '../port/order.ts'
import { PeerGone, RemoteFailure } from '@parley/rpc/line-peer'
import { BRIDGE_LIMITS, type BridgeLimits } from './bridge-limits.ts'
import { BridgedConversation, type BridgedConversationParts } from './bridged-conversation.ts'
import type { DialectName } from './choose-dialect.ts'
import type { StartCodex } from '@parley/contracts'
import type { OpenedThread, TalkSink } from './dialect.ts'
import { openWithProfile } from './open-with-profile.ts'
import { type Running, Supervisor } from './supervisor.ts'

export interface BridgeOptions {
  readonly start: StartCodex
  /** What `codex --version` said; left out, Codex is asked what it speaks. */
  readonly version?: string
  /** As whom Codex is greeted. */
  readonly client: { readonly name: string; readonly version: string }
  /** What a person who runs this should know. */
  readonly warn: (message: string) => void
  /** Codex's own log, line by line. */
  readonly log?: (line: string) => void
  readonly now: () => number
  readonly random: (bytes: number) => Uint8Array
  /** Where Codex has its configuration: profiles are read there for versions that take none with a conversation. */
  readonly codexHome?: string
  readonly limits?: Partial<BridgeLimits>
}

/** One supervised Codex that serves many conversations. */
export interface Bridge {
  /** Of the Codex that runs, or ran last. */
  readonly version: string
  readonly dialect: DialectName
  /** Of the process that runs, or ran last. */
  readonly pid: number
  /** Throws `BackendError`. */
  open(order: OpenOrder, listener: ConversationListener): Promise<BackedConversation>
  /** Throws `ConversationUnknown`, `BackendError`. */
  resume(which: ConversationRef, order: OpenOrder, listener: ConversationListener): Promise<BackedConversation>
  /** A request in Codex's own words. Throws `RemoteFailure`, `BackendError`. */
  ask(method: string, params?: JsonObject): Promise<JsonValue>
  /** Hears what Codex tells that is about no conversation. Answers how to stop hearing it. */
  onNotification(heard: (method: string, params: JsonObject) => void): () => void
  close(): Promise<void>
}

/** Starts Codex and greets it. Throws `BackendError`. */
export async function openBridge(options: BridgeOptions): Promise<Bridge> {
  const bridge = new CodexBridge(options)
  await bridge.ready()
  return bridge
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** What versions say to a conversation that they do not have. */
const UNKNOWN = /no rollout found|not found|no such file|invalid (thread|session|conversation) id|does not exist/i

/** Asking one of these leaves something behind in the process. */
const SIGN_IN = new Set(['account/login/start', 'loginChatGpt'])

/** Threads that one process holds and nobody has open. */
interface HeldThreads {
  readonly epoch: number
  readonly count: number
}

class CodexBridge implements Bridge {
  readonly #options: BridgeOptions
  readonly #limits: BridgeLimits
  readonly #supervisor: Supervisor
  readonly #conversations = new Map<string, BridgedConversation>()
  readonly #listeners = new Set<(method: string, params: JsonObject) => void>()
  /** Conversations that are being opened count as open. */
  #opening = 0
  #asking = 0
  #held: HeldThreads = { epoch: 0, count: 0 }
  #signInUntil = 0
  #last: Running | undefined
  #closing: Promise<void> | undefined

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#limits = { ...BRIDGE_LIMITS, ...options.limits }
    const { start, client, warn, now, log = () => undefined, version } = options
    const supervised = { start, client, warn, now, log, version, limits: this.#limits }
    this.#supervisor = new Supervisor(supervised, this.#sink(), (reason) => this.#lost(reason))
  }

  get version(): string {
    return this.#last?.version ?? 'unknown'
  }
  get dialect(): DialectName {
    return this.#last?.dialect ?? 'v2'
  }
  get pid(): number {
    return this.#last?.pid ?? 0
  }

  async ready(): Promise<void> {
    await this.#running()
  }

  open(order: OpenOrder, listener: ConversationListener): Promise<BackedConversation> {
    return this.#begin({ order, listener, isKept: false }, (running, taken) => running.talk.open(taken))
  }

  async resume(which: ConversationRef, order: OpenOrder, listener: ConversationListener): Promise<BackedConversation> {
    const name = 'id' in which ? which.id : which.path
    if ('id' in which ? !UUID.test(which.id) : !isRollout(which.path)) throw new ConversationUnknown(name)
    if ('id' in which && this.#conversations.has(which.id))
      throw new BackendError('invalid_request', `conversation ${which.id} is open already`)
    try {
      return await this.#begin({ order, listener, isKept: true }, (running, taken) => running.talk.resume(which, taken))
    } catch (error) {
      if (error instanceof BackendError && error.cause instanceof RemoteFailure && UNKNOWN.test(error.message))
        throw new ConversationUnknown(name)
      throw error
    }
  }

  async ask(method: string, params?: JsonObject): Promise<JsonValue> {
    this.#asking += 1
    if (SIGN_IN.has(method)) this.#signInUntil = this.#options.now() + this.#limits.signInMs
    try {
      const { talk } = await this.#running()
      return await talk.ask(method, params)
    } catch (error) {
      throw error instanceof RemoteFailure ? error : asBackendError(error)
    } finally {
      this.#asking -= 1
      this.#refresh()
    }
  }

  onNotification(heard: (method: string, params: JsonObject) => void): () => void {
    this.#listeners.add(heard)
    return () => void this.#listeners.delete(heard)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#conversations.values()].map((conversation) => conversation.closeQuickly()))
    this.#conversations.clear()
    await this.#supervisor.close()
  }

  async #running(): Promise<Running> {
    const running = await this.#supervisor.running()
    this.#last = running
    return running
  }

  async #begin(
    { order, listener, isKept }: Pick<BridgedConversationParts, 'order' | 'listener' | 'isKept'>,
    begin: (running: Running, order: OpenOrder) => Promise<OpenedThread>,
  ): Promise<BackedConversation> {
    const { conversations: most } = this.#limits
    if (this.#closing !== undefined) throw new BackendError('lost', 'the bridge to Codex is closed')
    if (this.#conversations.size + this.#opening >= most)
      throw new BackendError('too_many', `${most} conversations are open, more than that is not allowed`)
    this.#opening += 1
    try {
      const running = await this.#running()
      const { codexHome } = this.#options
      const { version, epoch, talk } = running
      const ask = (method: string, params: JsonObject): Promise<JsonValue> => talk.ask(method, params)
      const opened = await openWithProfile(order, { codexHome, version, ask }, (taken) => begin(running, taken))
      return this.#adopt(opened.thread, { order: opened.order, listener, epoch, isKept })
    } catch (error) {
      throw asBackendError(error)
    } finally {
      this.#opening -= 1
      this.#refresh()
    }
  }

  /** A process that holds many threads which nobody has open is replaced once it runs nothing. */
  #refresh(): void {
    const { epoch, count } = this.#held
    if (count < this.#limits.heldThreads || this.#last?.epoch !== epoch) return
    if (this.#opening + this.#asking > 0 || this.#options.now() < this.#signInUntil) return
    for (const conversation of this.#conversations.values()) if (!conversation.canMove) return
    this.#supervisor.retire(this.#last)
  }

  #closed(id: string, epoch: number): void {
    this.#conversations.delete(id)
    const { epoch: before, count } = this.#held
    if (epoch >= before) this.#held = { epoch, count: epoch === before ? count + 1 : 1 }
    this.#refresh()
  }

  #adopt(
    thread: OpenedThread,
    more: Pick<BridgedConversationParts, 'order' | 'listener' | 'epoch' | 'isKept'>,
  ): BackedConversation {
    if (this.#conversations.has(thread.id)) throw new BackendError('invalid_request', `conversation ${thread.id} is open already`)
    const { now, random } = this.#options
    const conversation = new BridgedConversation({
      ...more,
      thread,
      limits: this.#limits,
      now,
      newTurnId: () => `turn_${Buffer.from(random(10)).toString('hex')}`,
      running: () => this.#running(),
      rests: () => this.#refresh(),
      closed: (epoch) => this.#closed(thread.id, epoch),
    })
    this.#conversations.set(thread.id, conversation)
    return conversation
  }

  #lost(reason: string): void {
    for (const conversation of this.#conversations.values()) conversation.lost(reason)
  }

  #sink(): TalkSink {
    return {
      event: (id, event) => this.#conversations.get(id)?.event(event),
      ended: (id, end) => this.#conversations.get(id)?.ended(end),
      approve: async (id, request, signal) => (await this.#conversations.get(id)?.approve(request, signal)) ?? 'denied',
      notified: (method, params) => {
        for (const heard of this.#listeners) heard(method, params)
      },
      warn: this.#options.warn,
    }
  }
}

/** Only files that Codex itself could have written are looked for; it checks what is inside. */
const isRollout = (path: string): boolean =>
  path.startsWith('/') && path.endsWith('.jsonl') && !path.includes('\0') && !path.split('/').includes('..')

function asBackendError(error: unknown): Error {
  if (error instanceof BackendError || error instanceof ConversationUnknown) return error
  const message = messageOf(error)
  if (error instanceof RemoteFailure)
    return new BackendError(error.code === RPC_CODES.internal_error ? 'failed' : 'invalid_request', message, { cause: error })
  return new BackendError(error instanceof PeerGone ? 'lost' : 'failed', message, { cause: error })
}
