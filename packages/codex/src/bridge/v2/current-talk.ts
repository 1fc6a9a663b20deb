import type { EngineEvent, InputPart } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ConversationRef } from '../../port/backed-conversation.ts'
import type { OpenOrder, TurnOrder } from '../../port/order.ts'
import { type LinePeer, RemoteFailure, type WireId } from '@parley/rpc/line-peer'
import type { OpenedThread, CodexTalk, TalkSink } from '../dialect.ts'
import { withRecordedGate } from '../rollout/recorded-gate.ts'
import { asObject, objectOf, objectsIn, textOf, textOrNull } from './fields.ts'
import { messagesOf } from './history.ts'
import { TurnOverrides, inputOf, threadParams } from './orders.ts'
import { answerRequest } from './server-requests.ts'
import { Thread, TurnNotes } from './thread.ts'
import { turnEndOf, turnEvents } from './turn-events.ts'

/** Threads that are remembered at once: those that are open, and what they started themselves. */
const THREADS_MAX = 1_024
/** Turns of an earlier conversation that are read again, newest first. */
const HISTORY_TURNS = 200
/** How often, and how far apart, a turn is interrupted that Codex says it does not have. */
const INTERRUPT_TRIES = 20
const INTERRUPT_PAUSE_MS = 50
/** The same for a thread that another process still writes. */
const WRITER_TRIES = 50
const WRITER_PAUSE_MS = 100
/** How long the end of an interrupted turn waits for its commands to be ended. */
const CLEAN_MS = 1_000

/** One app-server that speaks of threads, turns and items. */
export class CurrentTalk implements CodexTalk {
  readonly userAgent: string
  readonly #peer: LinePeer
  readonly #sink: TalkSink
  readonly #threads = new Map<string, Thread>()
  readonly #asking = new Map<string, AbortController>()

  constructor(peer: LinePeer, sink: TalkSink, userAgent: string) {
    this.#peer = peer
    this.#sink = sink
    this.userAgent = userAgent
  }

  async open(order: OpenOrder): Promise<OpenedThread> {
    const opened = asObject(await this.#peer.ask('thread/start', threadParams(order)))
    return this.#opened(opened, [])
  }

  async resume(
    which: ConversationRef,
    asked: OpenOrder,
    { quiet }: { readonly quiet: boolean } = { quiet: false },
  ): Promise<OpenedThread> {
    const ref = 'id' in which ? { threadId: which.id } : { threadId: '', path: which.path }
    const order = await withRecordedGate(asked, await this.#pathOf(which))
    const opened = await this.#resumed({ ...ref, ...threadParams(order), excludeTurns: true })
    const turns = quiet ? [] : await this.#turnsOf(textOf(objectOf(opened, 'thread'), 'id'))
    return this.#opened(opened, turns)
  }

  async startTurn(threadId: string, order: TurnOrder): Promise<string> {
    const thread = this.#thread(threadId)
    const params = { threadId, input: inputOf(order.input), ...thread.overrides?.next(order) }
    const answer = asObject(await this.#peer.ask('turn/start', params))
    thread.overrides?.taken(order)
    const id = textOf(objectOf(answer, 'turn'), 'id')
    if (id !== thread.endedTurn) this.#turnStarted(threadId, id)
    return id
  }

  async steer(threadId: string, input: readonly InputPart[]): Promise<boolean> {
    const expectedTurnId = this.#threads.get(threadId)?.turn?.id
    if (expectedTurnId === undefined) return false
    try {
      await this.#peer.ask('turn/steer', { threadId, expectedTurnId, input: inputOf(input) })
      return true
    } catch (error) {
      // The turn ended in the meantime, or is of a kind that takes nothing more.
      if (error instanceof RemoteFailure) return false
      throw error
    }
  }

  async interrupt(threadId: string): Promise<void> {
    const turnId = this.#threads.get(threadId)?.turn?.id
    for (let tries = INTERRUPT_TRIES; tries > 0; tries--) {
      // It may have ended by itself.
      if (turnId === undefined || this.#threads.get(threadId)?.turn?.id !== turnId) return
      try {
        await this.#peer.ask('turn/interrupt', { threadId, turnId })
        return
      } catch (error) {
        if (!(error instanceof RemoteFailure) || tries === 1) throw error
        // A turn that was taken and has not begun yet is not there to be interrupted.
        await new Promise((resolve) => setTimeout(resolve, INTERRUPT_PAUSE_MS))
      }
    }
  }

  async forget(threadId: string): Promise<void> {
    this.#threads.delete(threadId)
    for (const [id, { parent }] of this.#threads) if (parent === threadId) this.#threads.delete(id)
    await this.#endCommands(threadId)
    await this.#peer.ask('thread/unsubscribe', { threadId })
  }

  ask(method: string, params?: JsonObject): Promise<JsonValue> {
    return this.#peer.ask(method, params)
  }

  async request(method: string, params: JsonObject, id: WireId = ''): Promise<JsonValue> {
    const threadId = textOf(params, 'threadId')
    const owner = this.#ownerOf(threadId)
    const thread = this.#threads.get(threadId)
    const key = requestKey(threadId, id)
    const controller = new AbortController()
    this.#asking.set(key, controller)
    try {
      return await answerRequest(method, params, {
        thread: thread ?? new Thread(threadId),
        id: String(id),
        approve: (request) => this.#sink.approve(owner, request, controller.signal),
        interrupt: () => void this.interrupt(owner).catch(() => undefined),
        warn: (message) => this.#warn(owner, message),
      })
    } finally {
      this.#asking.delete(key)
    }
  }

  notified(method: string, params: JsonObject): void {
    const threadId = textOf(params, 'threadId')
    switch (method) {
      case 'thread/started':
        return this.#threadStarted(objectOf(params, 'thread'))
      case 'turn/started':
        return this.#turnStarted(threadId, textOf(objectOf(params, 'turn'), 'id'))
      case 'turn/completed':
        return this.#turnCompleted(threadId, objectOf(params, 'turn'))
      case 'serverRequest/resolved': {
        const id = params['requestId']
        if (typeof id === 'string' || typeof id === 'number') this.#asking.get(requestKey(threadId, id))?.abort()
        return
      }
      case 'warning':
      case 'guardianWarning':
        return threadId === '' ? this.#sink.warn(textOf(params, 'message')) : this.#warn(threadId, textOf(params, 'message'))
      case 'configWarning':
      case 'deprecationNotice':
        return this.#sink.warn(
          [textOf(params, 'summary'), textOrNull(params, 'details')].filter((part) => part !== null).join(': '),
        )
      case 'mcpServer/startupStatus/updated':
        if (textOf(params, 'status') === 'failed')
          this.#warn(threadId, `${textOf(params, 'name')} could not be mounted: ${textOf(params, 'error')}`)
        return
      default:
        return threadId === '' ? this.#sink.notified(method, params) : this.#turnNews(threadId, method, params)
    }
  }

  /** A process that was killed may hold on to its threads for a moment longer than it lives. */
  async #resumed(params: JsonObject): Promise<JsonObject> {
    for (let tries = WRITER_TRIES; ; tries--) {
      try {
        return asObject(await this.#peer.ask('thread/resume', params))
      } catch (error) {
        if (tries === 1 || !(error instanceof RemoteFailure) || !error.message.includes('active writer')) throw error
        await new Promise((resolve) => setTimeout(resolve, WRITER_PAUSE_MS))
      }
    }
  }

  #turnNews(threadId: string, method: string, params: JsonObject): void {
    const thread = this.#threads.get(threadId)
    const turn = thread?.turn
    // What comes from a turn that is over, or from history that is told again, is nobody's any more.
    if (thread === undefined || turn === undefined || textOf(params, 'turnId') !== turn.id) return
    const events = turnEvents(method, params, thread, turn)
    if (thread.parent === undefined) this.#tell(threadId, events)
  }

  #turnStarted(threadId: string, id: string): void {
    const thread = this.#threads.get(threadId)
    if (thread === undefined || id === '') return
    if (thread.turn?.id !== id) thread.turn = new TurnNotes(id)
    const warnings = thread.warnings.splice(0)
    this.#tell(
      threadId,
      warnings.map((message) => ({ type: 'warning', message })),
    )
  }

  #turnCompleted(threadId: string, told: JsonObject): void {
    const thread = this.#threads.get(threadId)
    const turn = thread?.turn
    if (thread === undefined || turn === undefined || textOf(told, 'id') !== turn.id) return
    if (turn.summedUpFrom !== undefined)
      this.#tell(threadId, [{ type: 'warning', message: 'the conversation was summed up to make room' }])
    thread.turn = undefined
    thread.endedTurn = turn.id
    if (thread.parent !== undefined) return
    const end = turnEndOf(told, turn)
    if (end.kind !== 'interrupted') return this.#sink.ended(threadId, end)
    void this.#endCommands(threadId).then(() => this.#sink.ended(threadId, end))
  }

  /** Codex lets a command that was waited for run on when its turn is interrupted. */
  async #endCommands(threadId: string): Promise<void> {
    try {
      await this.#peer.ask('thread/backgroundTerminals/clean', { threadId }, { timeoutMs: CLEAN_MS })
    } catch {
      // A version that does not know it, or one that is gone: there is nothing more to do about it.
    }
  }

  /** One that a thread of ours started: what it does is not told, but what it asks is asked of our listener. */
  #threadStarted(told: JsonObject): void {
    const parent = textOrNull(told, 'parentThreadId')
    if (parent !== null && this.#threads.has(parent)) this.#thread(textOf(told, 'id')).parent = parent
  }

  #ownerOf(threadId: string): string {
    const parent = this.#threads.get(threadId)?.parent
    return parent === undefined ? threadId : this.#ownerOf(parent)
  }

  #warn(threadId: string, message: string): void {
    const thread = this.#thread(threadId)
    if (thread.turn === undefined) thread.keepWarning(message)
    else this.#tell(threadId, [{ type: 'warning', message }])
  }

  #tell(threadId: string, events: readonly EngineEvent[]): void {
    for (const event of events) this.#sink.event(threadId, event)
  }

  #thread(id: string): Thread {
    const known = this.#threads.get(id)
    if (known !== undefined) return known
    const thread = new Thread(id)
    // News of a thread that is being opened may come before the answer; those that nobody opens are few.
    if (this.#threads.size < THREADS_MAX) this.#threads.set(id, thread)
    return thread
  }

  #opened(answer: JsonObject, turns: readonly JsonObject[]): OpenedThread {
    const told = objectOf(answer, 'thread')
    const thread = this.#thread(textOf(told, 'id'))
    thread.overrides = new TurnOverrides(answer)
    return {
      id: thread.id,
      model: textOf(answer, 'model'),
      effort: textOrNull(answer, 'reasoningEffort'),
      rolloutPath: textOf(told, 'path'),
      initialMessages: messagesOf(turns),
      get contextWindow() {
        return thread.contextWindow
      },
    }
  }

  /** Where a conversation is kept; empty where Codex does not say. */
  async #pathOf(which: ConversationRef): Promise<string> {
    if ('path' in which) return which.path
    const read = await this.#peer.ask('thread/read', { threadId: which.id, includeTurns: false }).catch(() => ({}))
    return textOf(objectOf(asObject(read), 'thread'), 'path')
  }

  /** Oldest first. Versions without this method do without history. */
  async #turnsOf(threadId: string): Promise<readonly JsonObject[]> {
    try {
      const params = { threadId, limit: HISTORY_TURNS, sortDirection: 'desc', itemsView: 'full' }
      const answer = await this.#peer.ask('thread/turns/list', params)
      return isJsonObject(answer) ? objectsIn(answer, 'data').toReversed() : []
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error
      const read = asObject(await this.#peer.ask('thread/read', { threadId, includeTurns: true }).catch(() => ({})))
      return objectsIn(objectOf(read, 'thread'), 'turns')
    }
  }
}

const requestKey = (threadId: string, id: WireId): string => JSON.stringify([threadId, id])
