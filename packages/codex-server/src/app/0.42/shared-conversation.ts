import {
  type ApprovalDecision,
  ConversationBusy,
  ConversationClosed,
  type ConversationListener,
  type EngineEvent,
  type Turn,
  type TurnEnd,
} from '@parley/agent'
import type { BackedConversation, OpenOrder, TurnOrder } from '@parley/codex/port'

/** What happens before the conversation has anybody. */
const EARLY_EVENTS = 64

/** One who has the conversation open. */
interface Seat {
  readonly listener: ConversationListener
  /** Settles with the turn of this one: one at a time, as with a conversation of its own. */
  turn: { isInterrupted: boolean } | undefined
  isClosed: boolean
}

/**
 * A conversation that several have open. Each hears all that happens; whose turn it is, is asked. A turn that begins while
 * another one's is under way waits for its end.
 */
export class SharedConversation {
  readonly order: OpenOrder
  readonly listener: ConversationListener
  readonly #seats = new Set<Seat>()
  readonly #early: EngineEvent[] = []
  #backed: BackedConversation | undefined
  #speaker: Seat | undefined
  #last: Promise<unknown> = Promise.resolve()
  #forget: () => void = () => undefined
  #turns = 0

  constructor(order: OpenOrder) {
    this.order = order
    this.listener = {
      event: (event) => this.#heard(event),
      approve: (request, signal): Promise<ApprovalDecision> =>
        this.#speaker?.listener.approve(request, signal) ?? Promise.resolve('denied'),
    }
  }

  attach(backed: BackedConversation, forget: () => void): void {
    this.#backed = backed
    this.#forget = forget
  }

  get backed(): BackedConversation {
    if (this.#backed === undefined) throw new TypeError('the conversation is not open yet')
    return this.#backed
  }

  sit(listener: ConversationListener): BackedConversation {
    const { backed } = this
    const seat: Seat = { listener, turn: undefined, isClosed: false }
    this.#seats.add(seat)
    for (const event of this.#early.splice(0)) listener.event(event)
    return {
      id: backed.id,
      model: backed.model,
      effort: backed.effort,
      rolloutPath: backed.rolloutPath,
      // Where paths that the engine tells begin, for whoever did not open it.
      ...(backed.folder === undefined ? {} : { folder: backed.folder }),
      initialMessages: backed.initialMessages,
      get contextWindow() {
        return backed.contextWindow
      },
      get hasUnread() {
        return backed.hasUnread ?? false
      },
      submit: (order) => this.#submit(seat, order),
      steer: (input) => this.#speaker === seat && backed.steer(input),
      interrupt: () => this.#interrupt(seat),
      close: () => this.#leave(seat),
    }
  }

  /** For all who have it open. */
  async close(): Promise<void> {
    for (const seat of this.#seats) seat.isClosed = true
    this.#seats.clear()
    this.#forget()
    await this.backed.close()
  }

  #submit(seat: Seat, order: TurnOrder): Turn {
    const { id } = this.backed
    if (seat.isClosed) throw new ConversationClosed(id)
    if (seat.turn !== undefined) throw new ConversationBusy(id)
    const turn = { isInterrupted: false }
    seat.turn = turn
    const settle = (): void => {
      if (seat.turn === turn) seat.turn = undefined
    }
    if (this.#speaker === undefined) {
      try {
        return this.#speak(seat, order, settle)
      } catch (error) {
        settle()
        throw error
      }
    }
    this.#turns += 1
    const own = `waiting_${this.#turns}`
    const ended = this.#last.then(async (): Promise<TurnEnd> => {
      if (!turn.isInterrupted && !seat.isClosed) {
        const failed = (error: unknown): TurnEnd => ({ kind: 'failed', code: 'internal', message: String(error) })
        try {
          return await this.#speak(seat, order, settle).ended
        } catch (error) {
          return endHere(seat, own, failed(error), settle)
        }
      }
      return endHere(seat, own, { kind: 'interrupted' }, settle)
    })
    this.#last = ended
    return { id: own, ended }
  }

  #speak(seat: Seat, order: TurnOrder, settle: () => void): Turn {
    this.#speaker = seat
    let turn: Turn
    try {
      turn = this.backed.submit(order)
    } catch (error) {
      this.#speaker = undefined
      throw error
    }
    const ended = turn.ended.then((end) => {
      if (this.#speaker === seat) this.#speaker = undefined
      settle()
      return end
    })
    this.#last = ended
    return { id: turn.id, ended }
  }

  /** A turn that waits is all that is given up; otherwise it is the one under way, whoever's it is. */
  async #interrupt(seat: Seat): Promise<void> {
    if (seat.turn !== undefined && this.#speaker !== seat) seat.turn.isInterrupted = true
    else await this.backed.interrupt()
  }

  async #leave(seat: Seat): Promise<void> {
    if (seat.isClosed) return
    if (this.#speaker === seat) await this.backed.interrupt()
    seat.isClosed = true
    this.#seats.delete(seat)
    if (this.#seats.size === 0) await this.close()
  }

  #heard(event: EngineEvent): void {
    if (this.#seats.size === 0 && this.#early.length < EARLY_EVENTS) this.#early.push(event)
    for (const { listener } of this.#seats) listener.event(event)
  }
}

/** A turn that never came has its beginning and its end all the same. */
function endHere(seat: Seat, turn: string, end: TurnEnd, settle: () => void): TurnEnd {
  settle()
  seat.listener.event({ type: 'turn_started', turn })
  seat.listener.event({ type: 'turn_ended', turn, end })
  return end
}
