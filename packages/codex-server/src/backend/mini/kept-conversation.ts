import {
  type Conversation,
  ConversationBusy,
  ConversationClosed,
  type EngineEvent,
  type InputPart,
  type Turn,
  type TurnEnd,
} from '@parley/agent'
import type { BackedConversation, EventMessage, TurnOrder } from '@parley/codex/port'
import { messageOf } from '@parley/protocol/wire'
import { type Settled, isSame, settleTurn } from './settle.ts'

/** The engine's side of a conversation, and what was opened for it. */
export interface Seat {
  readonly conversation: Conversation
  readonly settled: Settled
  /** Closes the conversation and what its commands need. */
  close(): Promise<void>
}

/** Steering that may wait while a conversation moves. */
const STEERS_MAX = 64

export interface KeptConversationParts {
  readonly id: string
  readonly rolloutPath: string
  readonly initialMessages: readonly EventMessage[]
  readonly contextWindow: number | null
  readonly seat: Seat
  /** Takes the conversation up again, in another way, for one turn or for good. */
  readonly sit: (settled: Settled, forTurn: boolean) => Promise<Seat>
  readonly emit: (event: EngineEvent) => void
  readonly newTurnId: () => string
  readonly closed: () => void
}

interface Running {
  readonly id: string
  readonly ended: Promise<TurnEnd>
  /** Null while the conversation moves: what is said meanwhile waits. */
  steers: (readonly InputPart[])[] | null
  interrupted: boolean
}

/**
 * One conversation of our own engine. What a turn sets for itself alone moves the conversation: it is closed, taken up
 * again with other options, and moved back by the next turn that sets nothing.
 */
export class KeptConversation implements BackedConversation {
  readonly id: string
  readonly rolloutPath: string
  readonly initialMessages: readonly EventMessage[]
  readonly contextWindow: number | null
  readonly #parts: KeptConversationParts
  readonly #base: Settled
  #seat: Seat | undefined
  #running: Running | undefined
  #closing: Promise<void> | undefined

  constructor(parts: KeptConversationParts) {
    this.id = parts.id
    this.rolloutPath = parts.rolloutPath
    this.initialMessages = parts.initialMessages
    this.contextWindow = parts.contextWindow
    this.#parts = parts
    this.#base = parts.seat.settled
    this.#seat = parts.seat
  }

  get folder(): string {
    return this.#base.options.folder
  }
  get model(): string {
    return this.#base.options.model
  }
  get effort(): string | null {
    return this.#base.effort
  }
  get isBusy(): boolean {
    return this.#running !== undefined
  }

  submit(order: TurnOrder): Turn {
    if (this.#closing !== undefined) throw new ConversationClosed(this.id)
    if (this.#running !== undefined) throw new ConversationBusy(this.id)
    const settled = settleTurn(this.#base, order)
    const input = { input: order.input, ...(order.outputSchema === undefined ? {} : { outputSchema: order.outputSchema }) }
    const seat = this.#seat
    if (seat !== undefined && isSame(seat.settled, settled)) {
      const turn = seat.conversation.submit(input)
      return this.#run((running) => {
        running.steers = null
        return turn.ended
      })
    }
    return this.#run(async (running) => {
      const failure = await this.#move(settled).catch((error: unknown) => asEnd(error))
      if (failure !== undefined) return this.#endHere(running, failure)
      if (running.interrupted) return this.#endHere(running, { kind: 'interrupted' })
      const conversation = this.#seat?.conversation
      if (conversation === undefined) return this.#endHere(running, asEnd(new ConversationClosed(this.id)))
      const turn = conversation.submit(input)
      for (const said of running.steers ?? []) conversation.steer(said)
      running.steers = null
      return turn.ended
    })
  }

  steer(input: readonly InputPart[]): boolean {
    const running = this.#running
    if (running === undefined) return false
    if (running.steers === null) return this.#seat?.conversation.steer(input) ?? false
    return running.steers.length < STEERS_MAX && running.steers.push(input) > 0
  }

  async interrupt(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    running.interrupted = true
    if (running.steers === null) await this.#seat?.conversation.interrupt()
    await running.ended
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The engine numbers turns; ours have names before the engine has them. */
  named(event: EngineEvent): EngineEvent {
    const turn = this.#running?.id
    return turn !== undefined && (event.type === 'turn_started' || event.type === 'turn_ended') ? { ...event, turn } : event
  }

  async #close(): Promise<void> {
    await this.interrupt()
    await this.#seat?.close()
    this.#seat = undefined
    this.#parts.closed()
  }

  #run(begin: (running: Running) => Promise<TurnEnd>): Turn {
    const id = this.#parts.newTurnId()
    const { promise, resolve } = Promise.withResolvers<TurnEnd>()
    const running: Running = { id, ended: promise, steers: [], interrupted: false }
    this.#running = running
    const finish = (end: TurnEnd): void => {
      this.#running = undefined
      resolve(end)
    }
    begin(running).then(finish, (error: unknown) => finish(asEnd(error)))
    return { id, ended: promise }
  }

  /** Leaves the conversation where it can be taken up by the next turn, also when that fails. */
  async #move(settled: Settled): Promise<undefined> {
    const left = this.#seat
    this.#seat = undefined
    await left?.close()
    this.#seat = await this.#parts.sit(settled, !isSame(settled, this.#base))
    return undefined
  }

  /** A turn that the engine never saw has its beginning and its end all the same. */
  #endHere({ id }: Running, end: TurnEnd): TurnEnd {
    this.#parts.emit({ type: 'turn_started', turn: id })
    this.#parts.emit({ type: 'turn_ended', turn: id, end })
    return end
  }
}

const asEnd = (error: unknown): TurnEnd => ({
  kind: 'failed',
  code: 'internal',
  message: messageOf(error),
})
