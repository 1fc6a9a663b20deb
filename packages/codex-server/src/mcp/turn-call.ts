import type { ApprovalDecision, ApprovalRequest, EngineEvent, TurnEnd } from '@parley/agent'
import type { OpenConversation, TurnTaker } from '../conversation/open-conversation.ts'
import { type JsonObject, messageOf } from '@parley/protocol/wire'
import type { CallPort } from './call-port.ts'
import type { DialectFacts } from './dialect-facts.ts'
import { decisionIn, elicitationOf, subjectOf } from './elicitation.ts'
import type { EventOutbox } from './event-outbox.ts'
import type { LogLine, WhenUnanswerable } from './mcp-server-options.ts'
import { Progress } from './progress.ts'

export interface TurnCallOptions {
  readonly conversation: OpenConversation
  readonly outbox: EventOutbox
  readonly port: CallPort
  readonly dialect: DialectFacts
  readonly whenUnanswerable: WhenUnanswerable
  readonly answerMs: number | undefined
  readonly log: LogLine
}

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
export class TurnCall implements TurnTaker {
  readonly #options: TurnCallOptions
  readonly #progress: Progress

  constructor(options: TurnCallOptions) {
    this.#options = options
    this.#progress = new Progress((progress, message) => options.port.progress(progress, message), Date.now)
  }

  event(event: EngineEvent): void {
    this.#options.outbox.event(event)
    this.#progress.event(event)
  }

  /** Settles when the client has been told everything. */
  flushed(): Promise<void> {
    return this.#options.outbox.flushed()
  }

  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { port, whenUnanswerable, log } = this.#options
    const mayAsk = port.canBeAsked || (whenUnanswerable === 'ask' && port.mayBeAskedAnyway)
    if (!mayAsk) return this.#unanswerable(request)
    // The event that announces it goes first.
    await this.flushed()
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
    const { conversation, outbox, port, dialect } = this.#options
    return elicitationOf(request, {
      dialect,
      threadId: conversation.backed.id,
      requestId: String(port.id),
      eventId: outbox.eventId,
      folder: conversation.order.folder,
    })
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
