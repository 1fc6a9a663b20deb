import { ConversationUnknown, type InputPart } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ConversationRef } from '../../port/backed-conversation.ts'
import type { OpenOrder, TurnOrder } from '../../port/order.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { OpenedThread, CodexTalk, TalkSink } from '../dialect.ts'
import { versionOf } from '../version-of.ts'
import { wantedOf } from './approval.ts'
import { rolloutSize } from '../rollout/read-rollout.ts'
import { withRecordedGate } from '../rollout/recorded-gate.ts'
import { NewConversation, ResumedConversation, SessionConfigured, Subscribed, messagesOf } from './answers.ts'
import { type Mountable, openParams } from './open-params.ts'
import { OldThread } from './old-thread.ts'
import { OpeningSettings } from './opening-settings.ts'
import { RolloutPaths } from './rollout-paths.ts'
import { type SandboxTag, sandboxTag } from './sandbox-params.ts'

export interface OldTalkOptions {
  readonly userAgent: string
  readonly sink: TalkSink
  /** Rejects with `RemoteFailure` or `PeerGone`; nothing is waited for without a bound. */
  readonly ask: (method: string, params?: JsonObject) => Promise<JsonValue>
  readonly mountable: Mountable
}

const EVENT = 'codex/event'
/** So long after the end of a turn its last lines may not be in the file yet. */
const WRITE_MS = 150

/** Conversations as the app-server spoke of them up to 0.107, and `codex mcp` in 0.42. */
export class OldTalk implements CodexTalk {
  readonly userAgent: string
  readonly #options: OldTalkOptions
  readonly #threads = new Map<string, OldThread>()
  readonly #paths: RolloutPaths
  readonly #tag: SandboxTag
  /** What was told last of a conversation that is being resumed, which its answer leaves out. */
  #configured: SessionConfigured | undefined
  #approvals = 0
  #lastEnd = Number.NEGATIVE_INFINITY

  constructor(options: OldTalkOptions) {
    this.#options = options
    this.userAgent = options.userAgent
    this.#paths = new RolloutPaths(options.ask)
    this.#tag = sandboxTag(versionOf(options.userAgent) ?? '')
  }

  async open(order: OpenOrder): Promise<OpenedThread> {
    const { ask, mountable } = this.#options
    this.#warnOf(order)
    const { conversationId: id, ...opened } = NewConversation.parse(await ask('newConversation', openParams(order, mountable)))
    this.#paths.remember(id, opened.rolloutPath)
    const { model, reasoningEffort: effort, rolloutPath } = opened
    const thread = { id, model, effort, rolloutPath, initialMessages: [], contextWindow: null }
    await this.#follow(thread, order, 0)
    return thread
  }

  async resume(which: ConversationRef, asked: OpenOrder): Promise<OpenedThread> {
    const { ask, mountable } = this.#options
    await this.settled()
    const path = 'path' in which ? which.path : await this.#paths.find(which.id)
    if (path === undefined) throw new ConversationUnknown('id' in which ? which.id : '')
    this.#warnOf(asked)
    const order = await withRecordedGate(asked, path)
    const recordedFrom = await rolloutSize(path)
    const answer = ResumedConversation.parse(await ask('resumeConversation', { path, overrides: openParams(order, mountable) }))
    const { conversationId: id, model } = answer
    this.#paths.remember(id, path)
    const configured = this.#configured?.id === id ? this.#configured : undefined
    const effort = configured?.effort ?? null
    const initialMessages = messagesOf(answer.initialMessages ?? [])
    const thread = { id, model, effort, rolloutPath: path, initialMessages, contextWindow: null }
    await this.#follow(thread, order, recordedFrom)
    return thread
  }

  startTurn(threadId: string, order: TurnOrder): Promise<string> {
    return this.#thread(threadId).startTurn(order)
  }

  /** What is sent to a conversation that has a turn under way is read by that turn, if the model is asked again. */
  async steer(threadId: string, input: readonly InputPart[], over: AbortSignal): Promise<boolean> {
    return (await this.#threads.get(threadId)?.steer(input, over)) ?? false
  }

  /** Codex answers only when a turn was cut short, so it is neither asked nor waited for without one. */
  async interrupt(threadId: string): Promise<void> {
    await this.#threads.get(threadId)?.interrupt()
  }

  async forget(threadId: string): Promise<void> {
    const thread = this.#threads.get(threadId)
    if (thread === undefined) return
    this.#threads.delete(threadId)
    thread.abandon()
    if (thread.subscription !== undefined)
      await this.#options.ask('removeConversationListener', { subscriptionId: thread.subscription })
  }

  /** Codex cannot be asked whether its file is written; it does so right after it tells of the end of a turn. */
  async settled(): Promise<void> {
    const waitMs = this.#lastEnd + WRITE_MS - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  }

  ask(method: string, params?: JsonObject): Promise<JsonValue> {
    return this.#options.ask(method, params)
  }

  async request(method: string, params: JsonObject): Promise<JsonValue> {
    this.#approvals += 1
    const wanted = wantedOf(method, params, `approval-${this.#approvals}`)
    if (wanted === undefined) {
      this.#options.sink.warn(`Codex asked ${method}, which is not known`)
      throw new RemoteFailure('method_not_found', `${method} is not known here`)
    }
    const thread = this.#threads.get(wanted.threadId)
    return { decision: thread === undefined ? 'denied' : await thread.approve(wanted.request) }
  }

  notified(method: string, params: JsonObject): void {
    if (method === 'sessionConfigured') return this.#remember(params)
    if (method !== EVENT && !method.startsWith(`${EVENT}/`)) return this.#options.sink.notified(method, params)
    const { id, msg, conversationId } = params
    if (!isJsonObject(msg)) return
    if (msg['type'] === 'session_configured') this.#remember(msg)
    if (typeof conversationId !== 'string') return
    this.#threads.get(conversationId)?.reader.read(typeof id === 'string' ? id : '', msg)
  }

  /** Known before it is listened to: the first events may come with the answer. */
  async #follow(opened: OpenedThread, order: OpenOrder, recordedFrom: number): Promise<void> {
    const { ask, sink } = this.#options
    this.#threads.get(opened.id)?.abandon()
    const tag = this.#tag
    const settings = new OpeningSettings({ order, opened, recordedFrom, tag, ask })
    const ended: TalkSink['ended'] = (id, end) => {
      this.#lastEnd = performance.now()
      sink.ended(id, end)
    }
    const thread = new OldThread({ opened, order, sink: { ...sink, ended }, ask, settings, tag })
    this.#threads.set(opened.id, thread)
    try {
      const { subscriptionId } = Subscribed.parse(await ask('addConversationListener', { conversationId: opened.id }))
      thread.subscription = subscriptionId
    } catch (error) {
      this.#threads.delete(opened.id)
      throw error
    }
  }

  #remember(configured: JsonObject): void {
    const read = SessionConfigured.safeParse(configured)
    if (read.success) this.#configured = read.data
  }

  #warnOf({ compactPrompt }: OpenOrder): void {
    if (compactPrompt !== undefined) this.#options.sink.warn('this version of Codex compacts with words of its own')
  }

  #thread(id: string): OldThread {
    const thread = this.#threads.get(id)
    if (thread === undefined) throw new RemoteFailure('invalid_request', `conversation not found: ${id}`)
    return thread
  }
}
