import {
  type Conversation,
  ConversationBusy,
  ConversationClosed,
  type InputPart,
  type Turn,
  type TurnEnd,
  type TurnInput,
  checkInput,
} from '@parley/agent'
import { messageOf, type Moves, Place, within } from '@parley/protocol/wire'
import { settleOpenCalls } from './call/run-calls.ts'
import { SentCalls } from './call/sent-calls.ts'
import { addInput } from './add-input.ts'
import { type ConversationState, iso } from './conversation-state.ts'
import { Steering } from './steering.ts'
import { Stopper } from './stopper.ts'
import type { ToolboxHolder } from './toolbox-holder.ts'
import { runTurn } from './turn.ts'

/** How long mounts and files may take to let go, before they are left to themselves. */
const CLOSE_MS = 3_000
/** The longest that a timer can be set. */
const TIMER_MS = 2 ** 31 - 1
const NOT_TAKEN_UP = 'The call was not made: a restart came before it was decided, and nobody waits for it any more.'
const UNFINISHED = 'The call was interrupted: there is no output, and what it did so far may have taken effect.'

/**
 * Where a conversation stands:
 * - `idle`: open, without a turn.
 * - `running`: a turn is under way.
 * - `closing`: nothing is taken any more; what was under way is being ended.
 * - `closed`: everything was let go of.
 */
type ConversationPlace = 'idle' | 'running' | 'closing' | 'closed'

const MOVES: Moves<ConversationPlace> = {
  idle: ['running', 'closing'],
  running: ['idle', 'closing'],
  closing: ['closed'],
  closed: [],
}

type TurnBounds = Pick<TurnInput, 'outputSchema' | 'budget'>
type Said = Pick<TurnInput, 'input' | 'pinned' | 'heard'>

interface RunningTurn {
  readonly stopper: Stopper
  readonly steering: Steering
  readonly ended: Promise<TurnEnd>
}

export interface ConversationParts {
  readonly state: ConversationState
  readonly toolbox: ToolboxHolder
  /** Turns so far. */
  readonly turns: number
  readonly closed: () => void
}

/** One conversation of the own engine. */
export class MiniConversation implements Conversation {
  readonly id: string
  readonly model: string
  readonly #state: ConversationState
  readonly #toolbox: ToolboxHolder
  readonly #closed: () => void
  readonly #place = new Place(MOVES, 'idle')
  #turns: number
  #running: RunningTurn | undefined
  #closing: Promise<void> | undefined

  constructor({ state, toolbox, turns, closed }: ConversationParts) {
    this.id = state.id
    this.model = state.options.model
    this.#state = state
    this.#toolbox = toolbox
    this.#turns = turns
    this.#closed = closed
  }

  submit(input: TurnInput): Turn {
    this.#checkIdle()
    checkInput(input.input)
    return this.#begin(input, input)
  }

  takeUp(bounds: Pick<TurnInput, 'outputSchema' | 'budget'>): Turn | undefined {
    this.#checkIdle()
    return this.#state.history.open.length === 0 ? undefined : this.#begin(bounds, undefined)
  }

  #checkIdle(): void {
    if (this.#place.at === 'running') throw new ConversationBusy(this.id)
    if (!this.#place.may('running')) throw new ConversationClosed(this.id)
  }

  #begin(bounds: TurnBounds, said: Said | undefined): Turn {
    this.#place.to('running')
    this.#turns += 1
    const id = `turn_${this.#turns}`
    const stopper = new Stopper(this.#state.limits.interruptMs)
    const steering = new Steering()
    const ended = Promise.resolve().then(() => this.#turn(id, { bounds, said }, { stopper, steering }))
    this.#running = { stopper, steering, ended }
    return { id, ended }
  }

  steer(input: readonly InputPart[]): boolean {
    checkInput(input)
    const running = this.#running
    return running !== undefined && running.stopper.end === undefined && running.steering.add(input)
  }

  async interrupt(): Promise<void> {
    await this.#stop((stopper) => stopper.stop({ kind: 'interrupted' }))
  }

  async #stop(stop: (stopper: Stopper) => void): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    stop(running.stopper)
    await running.ended
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#place.to('closing')
    await this.#stop((stopper) => stopper.leave())
    const { log, limits } = this.#state
    // What cannot be written or let go of was told by the turn that noticed; the rest is let go of all the same.
    const ignore = (): void => undefined
    await within(this.#toolbox.close(), CLOSE_MS).catch(ignore)
    await within(log.flush(), limits.interruptMs).catch(ignore)
    await within(log.close(), CLOSE_MS).catch(ignore)
    this.#place.to('closed')
    this.#closed()
  }

  async #turn(
    id: string,
    { bounds, said }: { readonly bounds: TurnBounds; readonly said: Said | undefined },
    { stopper, steering }: Omit<RunningTurn, 'ended'>,
  ): Promise<TurnEnd> {
    const { log, emit, mini, spending, options } = this.#state
    const startedAt = mini.now()
    emit({ type: 'turn_started', turn: id })
    if (said !== undefined) settleOpenCalls(this.#state, NOT_TAKEN_UP)
    log.add({
      type: 'turn',
      at: iso(startedAt),
      turn: id,
      number: this.#turns,
      output_schema: bounds.outputSchema ?? null,
      budget: bounds.budget ?? null,
    })
    if (said !== undefined) addInput(this.#state, said)
    spending.startTurn(bounds.budget)
    const { wallMs } = spending
    const timer = wallMs === null ? undefined : setTimeout(() => stopper.stop(outOfTime(wallMs)), Math.min(wallMs, TIMER_MS))
    const sent = new SentCalls(log, options.keepsApprovals === true)
    const world = { state: this.#state, stopper, steering, toolbox: this.#toolbox, input: bounds, sent }
    const end = await runTurn(world).catch((error: unknown) => lost(error))
    clearTimeout(timer)
    sent.close()
    steering.close()
    // What somebody said meanwhile must not come between a call and its output.
    const mayStayOpen = stopper.isLeaving && steering.isEmpty
    settleOpenCalls(this.#state, UNFINISHED, (call) => mayStayOpen && !sent.mayBeSent(call))
    steering.take(this.#state)
    const took = Math.max(0, Math.round(mini.now() - startedAt))
    spending.endTurn(took)
    log.add({ type: 'turn_ended', at: iso(mini.now()), turn: id, wall_ms: took, end })
    const final = await this.#flushed(end)
    stopper[Symbol.dispose]()
    this.#running = undefined
    // Of one that is being closed this was the last turn.
    if (this.#place.may('idle')) this.#place.to('idle')
    emit({ type: 'turn_ended', turn: id, end: final })
    return final
  }

  /** A turn whose log is not on the disk did not complete. One that was stopped does not wait for long. */
  async #flushed(end: TurnEnd): Promise<TurnEnd> {
    try {
      const { log, limits } = this.#state
      const flushing = log.flush()
      await (end.kind === 'completed' ? flushing : within(flushing, limits.interruptMs))
      return end
    } catch (error) {
      return end.kind === 'completed' ? lost(error) : end
    }
  }
}

const outOfTime = (wallMs: number): TurnEnd => ({
  kind: 'failed',
  code: 'budget_time',
  message: `the turn has used its ${wallMs} ms`,
})

const lost = (error: unknown): TurnEnd => ({
  kind: 'failed',
  code: 'internal',
  message: messageOf(error),
})
