import type { ApprovalDecision, ApprovalRequest, EngineEvent, TurnEnd } from '@parley/agent'
import { type JsonObject, messageOf } from '@parley/protocol/wire'
import { JsonText } from '@parley/rpc/stdio'
import type { EventMessage } from '@parley/codex/port'
import type { CallPort } from './call-port.ts'
import type { DialectFacts } from './dialect-facts.ts'
import { decisionIn, elicitationOf, subjectOf } from './elicitation.ts'
import { EventOutbox } from './event-outbox.ts'
import type { LogLine, WhenUnanswerable } from './mcp-server-options.ts'
import { Progress } from './progress.ts'
import type { Talk, TurnSink } from './talk.ts'

export interface TurnCallOptions {
  readonly talk: Talk
  readonly port: CallPort
  readonly prompt: string
  readonly dialect: DialectFacts
  /** The id of its events in the older dialect; the newer one has that of the turn. */
  readonly eventId: string
  readonly whenUnanswerable: WhenUnanswerable
  readonly answerMs: number | undefined
  readonly laggingBytes: number
  readonly log: LogLine
}

/** What belongs to the conversation rather than to a turn has no id. */
const WITHOUT_ID: ReadonlySet<string> = new Set(['session_configured', 'mcp_startup_update', 'mcp_startup_complete'])
const EVENT = 'codex/event'
/** The longest that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1
const DECISIONS: Readonly<Record<Exclude<WhenUnanswerable, 'ask'>, ApprovalDecision>> = {
  deny: 'denied',
  approve: 'approved',
  abort: 'abort',
}
const VERBS: Readonly<Record<ApprovalDecision, string>> = {
  approved: 'approved',
  approved_for_session: 'approved',
  denied: 'denied',
  abort: 'denied, and the turn ends',
}

/** One turn on behalf of one call: its events go to the client as they come, its questions too. */
export class TurnCall implements TurnSink {
  readonly #options: TurnCallOptions
  readonly #outbox: EventOutbox
  readonly #progress: Progress
  readonly #heads = new Map<string, string>()
  #headsFor: string | number
  #eventId: string
  #isOver = false

  constructor(options: TurnCallOptions) {
    const { port, talk } = options
    this.#options = options
    this.#eventId = options.eventId
    this.#headsFor = port.id
    this.#progress = new Progress((progress, message) => port.progress(progress, message), Date.now)
    this.#outbox = new EventOutbox({
      translate: (event) => this.#translate(event),
      send: (message) => this.#send(message),
      drained: () => port.drained(),
      get isGone() {
        return port.isGone
      },
      laggingBytes: options.laggingBytes,
      lost: () => options.log('warn', `conversation ${talk.conversation.id}: the client reads slowly, some deltas are left out`),
    })
  }

  event(event: EngineEvent): void {
    this.#outbox.event(event)
    this.#progress.event(event)
  }

  messages(messages: readonly EventMessage[]): void {
    this.#outbox.messages(messages)
  }

  /** Settles when the client has been told everything. */
  flushed(): Promise<void> {
    return this.#outbox.flushed()
  }

  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { port, whenUnanswerable, log } = this.#options
    const mayAsk = port.canBeAsked || (whenUnanswerable === 'ask' && port.mayBeAskedAnyway)
    if (!mayAsk) return this.#unanswerable(request)
    // The event that announces it goes first.
    await this.#outbox.flushed()
    if (signal.aborted || port.signal.aborted) return 'denied'
    let answer: JsonObject
    try {
      const timeoutMs = this.#options.answerMs ?? LONGEST_MS
      answer = await port.ask(this.#question(request), { signal, timeoutMs })
    } catch (error) {
      if (!signal.aborted && !port.signal.aborted)
        log('warn', `${subjectOf(request)} was denied: the client did not answer (${messageOf(error)})`)
      return 'denied'
    }
    const decision = decisionIn(answer)
    if (decision === undefined) log('warn', `${subjectOf(request)} was denied: the client's answer is not one that can be read`)
    return decision ?? 'denied'
  }

  #unanswerable(request: ApprovalRequest): ApprovalDecision {
    const { whenUnanswerable, log } = this.#options
    const decision = whenUnanswerable === 'ask' ? 'denied' : DECISIONS[whenUnanswerable]
    const why = 'this client did not say that it can be asked (capability elicitation)'
    const message = `${subjectOf(request)} was ${VERBS[decision]}: ${why}`
    log('warn', message)
    this.event({ type: 'warning', message })
    return decision
  }

  #question(request: ApprovalRequest): JsonObject {
    const { talk, port, dialect } = this.#options
    return elicitationOf(request, {
      dialect,
      threadId: talk.conversation.id,
      requestId: String(port.id),
      eventId: this.#eventId,
      folder: talk.order.folder,
    })
  }

  #translate(event: EngineEvent): readonly EventMessage[] {
    const { talk, prompt, dialect } = this.#options
    const { translator } = talk
    if (event.type !== 'turn_started') return translator.translate(event)
    this.#eventId = dialect.eventId(this.#eventId, event.turn)
    return [...translator.translate(event), ...translator.said(prompt)]
  }

  #send(message: EventMessage): boolean {
    if (this.#isOver) return true
    const head = this.#head(WITHOUT_ID.has(message.type) ? '' : this.#eventId)
    const isTaken = this.#options.port.notify(EVENT, new JsonText(`${head}${JSON.stringify(message)}}`))
    // Codex answers a call that failed right after saying so.
    if (isTaken && message.type === 'error') this.#isOver = true
    return isTaken
  }

  /** The parameters up to the message, made once for each id: all else differs from event to event. */
  #head(id: string): string {
    const { port, talk, dialect } = this.#options
    if (port.id !== this.#headsFor) this.#heads.clear()
    this.#headsFor = port.id
    let head = this.#heads.get(id)
    if (head === undefined) {
      const meta = { requestId: port.id, ...dialect.ofThread(talk.conversation.id) }
      head = `{"_meta":${JSON.stringify(meta)},"id":${JSON.stringify(id)},"msg":`
      this.#heads.set(id, head)
    }
    return head
  }
}

/** What the client reads as the result of a turn. */
export function textOf(end: TurnEnd, wasCancelled: boolean): { readonly text: string; readonly isError: boolean } {
  switch (end.kind) {
    case 'completed':
      return { text: end.message, isError: false }
    case 'failed':
      return { text: end.message, isError: true }
    case 'interrupted':
      return { text: wasCancelled ? CANCELLED : 'The turn was aborted.', isError: true }
    default:
      return end satisfies never
  }
}
export const CANCELLED = 'The call was cancelled and its turn interrupted.'
