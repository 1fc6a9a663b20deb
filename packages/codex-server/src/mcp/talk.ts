import type { ApprovalDecision, ApprovalRequest, ConversationListener, EngineEvent } from '@parley/agent'
import type { BackedConversation, EventMessage, OpenOrder } from '@parley/codex/port'
import { openTranslator } from '../event/open-translator.ts'
import type { EventDialect, EventTranslator } from '../event/translator.ts'

/** Who hears what happens in a conversation: the call whose turn it is. */
export interface TurnSink {
  event(event: EngineEvent): void
  messages(messages: readonly EventMessage[]): void
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>
}

/** What an engine may tell of a conversation before anybody can translate it. */
const EARLY_EVENTS = 64

/** A place in the line of a conversation. */
interface Place {
  readonly enter: () => void
}

/** One open conversation, and the calls that want a turn in it, one after the other. */
export class Talk {
  #order: OpenOrder
  readonly #dialect: EventDialect
  readonly #line: Place[] = []
  readonly #early: EngineEvent[] = []
  #conversation: BackedConversation | undefined
  #translator: EventTranslator | undefined
  #sink: TurnSink | undefined
  #isTaken = false
  /** Turns so far that were replies: the older dialect numbers them. */
  replies = 0
  /** Calls that have it in hand: it is not closed under them. */
  claims = 0

  constructor(order: OpenOrder, dialect: EventDialect) {
    this.#order = order
    this.#dialect = dialect
  }

  readonly listener: ConversationListener = {
    event: (event) => {
      if (this.#sink !== undefined && this.#translator !== undefined) this.#sink.event(event)
      else if (this.#translator === undefined && this.#early.length < EARLY_EVENTS) this.#early.push(event)
    },
    approve: (request, signal) => this.#sink?.approve(request, signal) ?? Promise.resolve('denied'),
  }

  attach(conversation: BackedConversation): void {
    this.#conversation = conversation
    const folder = this.#order.folder ?? conversation.folder
    if (folder !== undefined) this.#order = { ...this.#order, folder }
    const later = (messages: readonly EventMessage[]): void => this.#sink?.messages(messages)
    this.#translator = openTranslator(this.#dialect, conversation, { order: this.order, later })
  }

  /** How it was opened; one that was resumed is where it was before. */
  get order(): OpenOrder {
    return this.#order
  }
  get conversation(): BackedConversation {
    if (this.#conversation === undefined) throw new TypeError('the conversation is not open yet')
    return this.#conversation
  }
  get translator(): EventTranslator {
    if (this.#translator === undefined) throw new TypeError('the conversation is not open yet')
    return this.#translator
  }
  get waiting(): number {
    return this.#line.length
  }

  /** Waits for its turn. False: gave up before it came. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (!this.#isTaken) return (this.#isTaken = true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const place: Place = { enter: () => resolve(true) }
    this.#line.push(place)
    const giveUp = (): void => {
      const at = this.#line.indexOf(place)
      if (at !== -1) this.#line.splice(at, 1)
      if (at !== -1) resolve(false)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Lets the next one in. */
  leave(): void {
    this.#sink = undefined
    const next = this.#line.shift()
    if (next === undefined) this.#isTaken = false
    else next.enter()
  }

  listen(sink: TurnSink): void {
    this.#sink = sink
    for (const event of this.#early.splice(0)) sink.event(event)
  }
}
