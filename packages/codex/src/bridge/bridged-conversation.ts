import {
  type ApprovalDecision,
  type ApprovalRequest,
  ConversationBusy,
  ConversationClosed,
  type ConversationListener,
  type EngineEvent,
  type InputPart,
  type Turn,
  type TurnEnd,
} from '@parley/agent'
import type { BackedConversation, EventMessage } from '../port/backed-conversation.ts'
import { messageOf, within } from '@parley/protocol/wire'
import type { OpenOrder, TurnOrder } from '../port/order.ts'
import { PeerGone } from '@parley/rpc/line-peer'
import { AddedInput } from './added-input.ts'
import { BridgeApprovals } from './approval-desk.ts'
import type { BridgeLimits } from './bridge-limits.ts'
import type { OpenedThread } from './dialect.ts'
import { rolloutSize } from './rollout/read-rollout.ts'
import type { Running } from './supervisor.ts'
import { TurnLedger } from './turn-ledger.ts'

/** Warnings between two turns that are kept for the next one. */
const KEPT_WARNINGS = 32
/** With so much to begin the next turn with, a turn under way takes nothing more. */
const UNREAD_MAX = 128
export interface BridgedConversationParts {
  readonly thread: OpenedThread
  readonly order: OpenOrder
  readonly listener: ConversationListener
  /** The start of the process in which the thread is open. */
  readonly epoch: number
  readonly limits: BridgeLimits
  readonly now: () => number
  readonly newTurnId: () => string
  readonly running: () => Promise<Running>
  /** Whether an earlier process left it, so that a later one can take it up. */
  readonly isKept: boolean
  /** A turn is over. */
  readonly rests: () => void
  /** `epoch` is that of the process which may hold its thread still. */
  readonly closed: (epoch: number) => void
}

interface RunningTurn {
  readonly id: string
  readonly ledger: TurnLedger
  readonly ended: PromiseWithResolvers<TurnEnd>
  /** Settles when Codex took the turn, with the process that did; undefined when it did not get that far. */
  taken: Promise<Running | undefined>
  interrupting: boolean
  over: boolean
  readonly input: readonly InputPart[]
  /** How long the conversation's file was when the turn began. */
  recordedFrom: number
  readonly added: AddedInput
}

/** One conversation in a Codex that may be lost and come back. */
export class BridgedConversation implements BackedConversation {
  readonly id: string
  readonly model: string
  readonly effort: string | null
  readonly rolloutPath: string
  readonly initialMessages: readonly EventMessage[]
  readonly #parts: BridgedConversationParts
  readonly #desk: BridgeApprovals
  #epoch: number
  /** One in which nothing was said is nowhere but in its process. */
  #isKept: boolean
  /** What was approved for the session is known to its process alone. */
  #isBound = false
  #turn: RunningTurn | undefined
  #warnings: string[] = []
  /** What was added to turns that ended without reading it: the next one begins with it. */
  #unread: readonly (readonly InputPart[])[] = []
  #closing: Promise<void> | undefined

  constructor(parts: BridgedConversationParts) {
    const { thread, epoch, listener } = parts
    this.id = thread.id
    this.model = thread.model
    this.effort = thread.effort
    this.rolloutPath = thread.rolloutPath
    this.initialMessages = thread.initialMessages
    this.#parts = parts
    this.#epoch = epoch
    this.#isKept = parts.isKept
    this.#desk = new BridgeApprovals(listener, (event) => this.#tell(event))
  }

  get contextWindow(): number | null {
    return this.#parts.thread.contextWindow
  }

  /** Whether another process can stand in for the one that has it open, unnoticed. */
  get canMove(): boolean {
    return this.#turn === undefined && this.#closing === undefined && this.#isKept && !this.#isBound
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0
  }

  submit(asked: TurnOrder): Turn {
    if (this.#closing !== undefined) throw new ConversationClosed(this.id)
    if (this.#turn !== undefined) throw new ConversationBusy(this.id)
    const { newTurnId, now } = this.#parts
    const id = newTurnId()
    const order = { ...asked, input: [...this.#unread.flat(), ...asked.input] }
    const turn: RunningTurn = {
      id,
      input: order.input,
      recordedFrom: 0,
      added: new AddedInput(),
      ledger: new TurnLedger(now),
      ended: Promise.withResolvers<TurnEnd>(),
      taken: Promise.resolve(undefined),
      interrupting: false,
      over: false,
    }
    this.#turn = turn
    // The caller has the turn in hand before the first event of it.
    turn.taken = Promise.resolve().then(() => this.#start(turn, order))
    return { id, ended: turn.ended.promise }
  }

  steer(input: readonly InputPart[]): boolean {
    const turn = this.#turn
    if (turn === undefined || turn.over || turn.interrupting || this.#closing !== undefined) return false
    if (this.#unread.length >= UNREAD_MAX) return false
    return turn.added.add(input, async (over) => {
      const running = await turn.taken
      return running !== undefined && !over.aborted && running.talk.steer(this.id, input, over)
    })
  }

  async interrupt(): Promise<void> {
    await this.#interrupt(this.#parts.limits.interruptMs)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close(this.#parts.limits.interruptMs)
    return this.#closing
  }

  /** With the process about to end: nobody waits for long, and nothing has to be let go of. */
  async closeQuickly(): Promise<void> {
    this.#closing ??= Promise.resolve()
    await this.#interrupt(this.#parts.limits.closeInterruptMs)
  }

  /** Something happened in the thread. */
  event(event: EngineEvent): void {
    const turn = this.#turn
    if (turn === undefined) {
      if (event.type === 'warning' && this.#warnings.length < KEPT_WARNINGS) this.#warnings.push(event.message)
      return
    }
    if (turn.ledger.admit(event)) this.#tell(event)
  }

  ended(end: TurnEnd): void {
    const turn = this.#turn
    if (turn !== undefined) this.#finish(turn, end)
  }

  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const turn = this.#turn
    if (turn === undefined || turn.interrupting) return 'denied'
    const decision = await this.#desk.ask(request, signal)
    if (decision === 'approved_for_session') this.#isBound = true
    return decision
  }

  /** The process is gone, and with it the turn that it ran. */
  lost(reason: string): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#finish(turn, turn.interrupting ? { kind: 'interrupted' } : engineLost(reason))
  }

  async #start(turn: RunningTurn, order: TurnOrder): Promise<Running | undefined> {
    this.#desk.startTurn()
    this.#tell({ type: 'turn_started', turn: turn.id })
    for (const message of this.#warnings.splice(0)) this.#tell({ type: 'warning', message })
    try {
      const running = await this.#parts.running()
      if (turn.over) return undefined
      await this.#openAgain(running)
      if (turn.over || turn.interrupting) {
        this.#finish(turn, { kind: 'interrupted' })
        return undefined
      }
      turn.recordedFrom = await rolloutSize(this.rolloutPath)
      await running.talk.startTurn(this.id, order)
      this.#unread = []
      return running
    } catch (error) {
      const message = messageOf(error)
      const code = error instanceof PeerGone ? 'engine_lost' : failureCode(error)
      this.#finish(turn, turn.interrupting ? { kind: 'interrupted' } : { kind: 'failed', code, message })
      return undefined
    }
  }

  /** A later process has to be told of the thread first. */
  async #openAgain(running: Running): Promise<void> {
    if (running.epoch === this.#epoch) return
    await running.talk.resume({ id: this.id }, this.#parts.order, { quiet: true })
    this.#epoch = running.epoch
  }

  async #interrupt(boundMs: number): Promise<void> {
    const turn = this.#turn
    if (turn === undefined) return
    turn.interrupting = true
    this.#desk.abandon()
    const late = setTimeout(() => this.#finish(turn, { kind: 'interrupted' }), boundMs)
    void turn.taken.then(async (running) => {
      if (!turn.over) await running?.talk.interrupt(this.id).catch(() => undefined)
    })
    await turn.ended.promise
    clearTimeout(late)
  }

  async #close(boundMs: number): Promise<void> {
    await this.#interrupt(boundMs)
    await within(this.#forget(), boundMs)
    this.#parts.closed(this.#epoch)
  }

  async #forget(): Promise<void> {
    try {
      const running = await this.#parts.running()
      if (running.epoch === this.#epoch) await running.talk.forget(this.id)
    } catch {
      // A process that is gone holds nothing open.
    }
  }

  #finish(turn: RunningTurn, end: TurnEnd): void {
    if (turn.over) return
    turn.over = true
    turn.added.end()
    this.#desk.abandon()
    // Nothing follows on a conversation that is being closed.
    if (turn.added.isEmpty || this.#closing !== undefined) this.#settle(turn, end)
    else void this.#keepUnread(turn, end).then(() => this.#settle(turn, end))
  }

  /** Nobody is told that the turn has ended before it is known what the next one has to begin with. */
  async #keepUnread(turn: RunningTurn, end: TurnEnd): Promise<void> {
    const { input: own, recordedFrom: from } = turn
    this.#unread = [...this.#unread, ...(await turn.added.unread({ rolloutPath: this.rolloutPath, from, own, end }))]
  }

  #settle(turn: RunningTurn, end: TurnEnd): void {
    const reason = end.kind === 'failed' ? end.message : 'the turn ended before it did'
    for (const event of turn.ledger.settle(reason, this.#desk.declined)) this.#tell(event)
    if (this.#turn === turn) this.#turn = undefined
    this.#tell({ type: 'turn_ended', turn: turn.id, end })
    turn.ended.resolve(end)
    if (end.kind === 'completed') this.#isKept = true
    this.#parts.rests()
  }

  #tell(event: EngineEvent): void {
    try {
      this.#parts.listener.event(event)
    } catch {
      // A listener's fault must not end somebody's turn; there is nobody else to tell.
    }
  }
}

const engineLost = (reason: string): TurnEnd => ({
  kind: 'failed',
  code: 'engine_lost',
  message: `Codex was lost in the middle of the turn: ${reason}`,
})

/** Of a `BackendError` only a lost process has a code among those of a turn. */
const failureCode = (error: unknown): 'engine_lost' | 'internal' =>
  error instanceof Error && 'code' in error && error.code === 'lost' ? 'engine_lost' : 'internal'
