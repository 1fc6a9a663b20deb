import {
  ConversationClosed,
  type ConversationListener,
  type EngineEvent,
  type InputPart,
  type Turn,
  type TurnEnd,
} from '@parley/agent'
import type { BackedConversation, OpenOrder, TurnOrder } from '@parley/codex/port'
import { type Moves, Place } from '@parley/protocol/wire'

/** What an engine may tell of a conversation before anybody hears it. */
const EARLY_EVENTS = 64

/** One who takes turns in a conversation: hears its own turns, and is asked in them. */
export interface TurnTaker extends ConversationListener {
  /** Settles when all that it heard has been told. The next turn begins then. */
  flushed?(): Promise<void>
  /** Its turn was completed without reading all that was added to it, and nobody waits: it may take another. */
  unread?(): void
}

/** A turn that somebody wants. */
export interface WantedTurn {
  readonly by: TurnTaker
  readonly order: TurnOrder
  /** Its time has come; what is heard from here on belongs to it. */
  readonly begins?: () => void
  /** When it fires, a turn that waits is not wanted any more. One that has begun goes on. */
  readonly signal?: AbortSignal
}

interface Waiting extends PromiseWithResolvers<Turn | undefined> {
  readonly wanted: WantedTurn
}

type State = 'opening' | 'idle' | 'speaking' | 'closed'

const MOVES: Moves<State> = {
  opening: ['idle'],
  idle: ['speaking', 'closed'],
  speaking: ['idle', 'closed'],
  closed: [],
}

/**
 * One open conversation: who may speak when, and who hears it.
 *
 * - `opening`: the backend is at it, and what it tells is kept. `attach` makes it idle.
 * - `idle`: nobody speaks. A turn that is taken, or the next one in the line, makes it speaking.
 * - `speaking`: one turn is under way, others stand in the line. It is idle again when the turn has ended and was told, or
 *   could not be begun.
 * - `closed`: nothing begins any more. `close` leads here from idle and speaking, and nothing leads away.
 *
 * A turn stands in the line until it begins, or is dropped: by its signal, by `drop` or by `close`.
 */
export class OpenConversation {
  readonly #line: Waiting[] = []
  readonly #listeners = new Set<Pick<ConversationListener, 'event'>>()
  readonly #state = new Place<State>(MOVES, 'opening')
  #opened: { readonly backed: BackedConversation; readonly order: OpenOrder } | undefined
  #turn: WantedTurn | undefined
  /** Until the first who hears anything. */
  #early: EngineEvent[] | undefined = []
  /** Until somebody wants a turn, unless it was begun before. */
  #isNew = true

  /** For the backend. */
  readonly listener: ConversationListener = {
    event: (event) => this.#heard(event),
    approve: (request, signal) => this.#turn?.by.approve(request, signal) ?? Promise.resolve('denied'),
  }

  attach(backed: BackedConversation, order: OpenOrder): void {
    this.#state.to('idle')
    // One that goes on without a word about it works where it did before.
    const folder = order.folder ?? backed.folder
    this.#opened = { backed, order: folder === undefined ? order : { ...order, folder } }
    this.#isNew = backed.initialMessages.length === 0
  }

  get backed(): BackedConversation {
    return this.#attached.backed
  }
  /** How it was opened, and where it works. */
  get order(): OpenOrder {
    return this.#attached.order
  }
  /** Turns that have not begun. */
  get waiting(): number {
    return this.#line.length
  }
  get isSpeaking(): boolean {
    return this.#state.at === 'speaking'
  }
  /** Whether nobody would notice if it were closed and resumed: what nobody has spoken in may not be kept. */
  get canSleep(): boolean {
    return this.#state.at === 'idle' && this.#line.length === 0 && !this.#isNew && this.backed.hasUnread !== true
  }

  isTurnOf(taker: TurnTaker): boolean {
    return this.#turn?.by === taker
  }

  /** Hears everything from now on, whoever's turn it is; the first also what came before. */
  listen(listener: Pick<ConversationListener, 'event'>): void {
    this.#listeners.add(listener)
    this.#tellEarly(listener)
  }

  /**
   * Settles when the turn has begun, with undefined when it was dropped before. What keeps it from beginning is thrown
   * where it can begin at once, else rejected with.
   */
  take(wanted: WantedTurn): Promise<Turn | undefined> {
    if (this.#state.at === 'closed') throw new ConversationClosed(this.backed.id)
    this.#isNew = false
    if (wanted.signal?.aborted === true) return Promise.resolve(undefined)
    if (this.#state.at === 'idle' && this.#line.length === 0) return Promise.resolve(this.#begin(wanted))
    const place: Waiting = { wanted, ...Promise.withResolvers<Turn | undefined>() }
    this.#line.push(place)
    wanted.signal?.addEventListener('abort', () => this.#leave(place), { once: true })
    return place.promise
  }

  /** Adds to the turn under way of this one. False: it has none, or none that takes it. */
  steer(by: TurnTaker, input: readonly InputPart[]): boolean {
    return this.isTurnOf(by) && this.#line.length === 0 && this.backed.steer(input)
  }

  /** Drops the turns that have not begun, of one or of all. How many there were. */
  drop(by?: TurnTaker): number {
    const dropped = this.#line.filter(({ wanted }) => by === undefined || wanted.by === by)
    for (const place of dropped) this.#leave(place)
    return dropped.length
  }

  async close(): Promise<void> {
    if (this.#state.at !== 'closed') this.#state.to('closed')
    this.drop()
    await this.backed.close()
  }

  get #attached() {
    if (this.#opened === undefined) throw new TypeError('the conversation is not open yet')
    return this.#opened
  }

  #begin(wanted: WantedTurn): Turn {
    this.#state.to('speaking')
    this.#turn = wanted
    try {
      wanted.begins?.()
      this.#tellEarly(wanted.by)
      const turn = this.backed.submit(wanted.order)
      void turn.ended.then(({ kind }) => this.#ended(wanted.by, kind))
      return turn
    } catch (error) {
      this.#rest()
      throw error
    }
  }

  async #ended(by: TurnTaker, kind: TurnEnd['kind']): Promise<void> {
    // Whoever could not tell its events hears of that by itself.
    await by.flushed?.().catch(() => undefined)
    if (this.#state.at === 'closed') return
    this.#rest()
    this.#next(by, kind)
  }

  #rest(): void {
    this.#turn = undefined
    this.#state.to('idle')
  }

  #next(last: TurnTaker, kind: TurnEnd['kind']): void {
    if (this.#state.at !== 'idle') return
    const place = this.#line.shift()
    if (place === undefined) {
      if (kind === 'completed' && this.backed.hasUnread === true) last.unread?.()
      return
    }
    try {
      place.resolve(this.#begin(place.wanted))
    } catch (error) {
      place.reject(error)
      // Whoever wanted it may say so before the next one begins.
      queueMicrotask(() => this.#next(last, kind))
    }
  }

  #leave(place: Waiting): void {
    const at = this.#line.indexOf(place)
    if (at !== -1) this.#line.splice(at, 1)
    if (at !== -1) place.resolve(undefined)
  }

  #heard(event: EngineEvent): void {
    const taker = this.#turn?.by
    if (this.#listeners.size === 0 && taker === undefined) {
      if (this.#early !== undefined && this.#early.length < EARLY_EVENTS) this.#early.push(event)
      return
    }
    for (const listener of this.#listeners) listener.event(event)
    if (taker !== undefined && !this.#listeners.has(taker)) taker.event(event)
  }

  #tellEarly(first: Pick<ConversationListener, 'event'>): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const event of early) first.event(event)
  }
}
