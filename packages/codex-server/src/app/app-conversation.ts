import type { ConversationListener, EngineEvent, InputPart, TurnEnd } from '@parley/agent'
import type { BackedConversation, EventMessage, OpenOrder, TurnOrder } from '@parley/codex/port'
import { messageOf } from '@parley/protocol/wire'
import type { EventTranslator, TranslatorOptions } from '../event/translator.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { Approvals } from './approvals.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from './error-codes.ts'
import { EARLY_EVENTS_MAX, INTERRUPT_MS, WAITING_TURNS_MAX } from './bounds.ts'
import type { Outbox } from './outbox.ts'
import { absoluteRequest, withAbsolutePaths } from './shape/absolute-changes.ts'
import { settlesWithin } from './within.ts'

export interface AppConversationOptions {
  readonly outbox: Outbox
  readonly approvals: Approvals
  /** The line that tells an event. */
  readonly line: (conversationId: string, submission: string, msg: EventMessage) => string
  /** Something went wrong with a turn that nobody waits for an answer to. */
  readonly note: (line: string) => void
}

interface WaitingTurn {
  readonly submission: string
  readonly order: TurnOrder
}

type TellLater = NonNullable<TranslatorOptions['later']>

/** There once the backend has opened it; before that there is only somebody who hears. */
interface Attached {
  readonly backed: BackedConversation
  readonly order: PlacedOrder
  readonly translator: EventTranslator
}

/** How it was opened, for when it is resumed, and where it works. */
type PlacedOrder = OpenOrder & { readonly folder: string }

/** One conversation as clients of the old methods see it. Everything handed in has a number, as in Codex: a submission. */
export class AppConversation {
  readonly outbox: Outbox
  readonly listener: ConversationListener
  readonly #options: AppConversationOptions
  readonly #early: EngineEvent[] = []
  readonly #waiting: WaitingTurn[] = []
  #attached: Attached | undefined
  #submissions = 0
  /** Of the turn under way. */
  #running: string | undefined
  /** Of the turn that events belong to, also of the last one after its end. */
  #current = ''
  /** Where the turn works that events belong to, if somewhere else than the conversation. */
  #turnFolder: string | undefined
  #hasSpoken = false
  #isClosed = false

  constructor(options: AppConversationOptions) {
    this.#options = options
    this.outbox = options.outbox
    this.listener = {
      event: (event) => this.#heard(event),
      approve: async (request, signal) => {
        const folder = this.#folder
        const asker = { conversationId: this.backed.id, folder, outbox: options.outbox }
        const decision = await options.approvals.decide(asker, absoluteRequest(request, folder), signal)
        this.#submit()
        return decision
      },
    }
  }

  get order(): PlacedOrder {
    return this.#open.order
  }

  /** Whether it can be closed and resumed without anybody noticing: what nobody has spoken in may not be kept. */
  get canSleep(): boolean {
    return this.#running === undefined && this.#waiting.length === 0 && this.#hasSpoken && this.backed.hasUnread !== true
  }

  get backed(): BackedConversation {
    return this.#open.backed
  }

  get #open(): Attached {
    if (this.#attached === undefined) throw new RemoteFailure(INTERNAL_ERROR, 'the conversation is not open yet')
    return this.#attached
  }

  get #folder(): string {
    return this.#turnFolder ?? this.order.folder
  }

  attach(backed: BackedConversation, order: PlacedOrder, openTranslator: (later: TellLater) => EventTranslator): void {
    const translator = openTranslator((messages) => {
      for (const msg of messages) this.#tell(this.#current, msg)
    })
    this.#attached = { backed, order, translator }
    this.#hasSpoken = backed.initialMessages.length > 0
    for (const event of this.#early.splice(0)) this.#heard(event)
  }

  /** Into the turn under way where that takes it, else as a turn of its own. */
  say(input: readonly InputPart[]): void {
    const submission = this.#submit()
    if (input.length === 0) {
      // Codex ends what has nothing to do, without beginning it.
      if (this.#running === undefined) this.#tell(submission, { type: 'task_complete', last_agent_message: null })
      return
    }
    if (this.#running !== undefined && this.#waiting.length === 0 && this.backed.steer(input)) return
    this.#enter({ submission, order: { input } })
  }

  /** As a turn of its own, after those before it, so that what is set for it holds. */
  take(order: TurnOrder): void {
    const submission = this.#submit()
    if (order.input.length > 0) return this.#enter({ submission, order })
    if (this.#running === undefined) this.#tell(submission, { type: 'task_complete', last_agent_message: null })
  }

  /** Settles when nothing of the turn runs any more; what waited behind it is dropped, as Codex does. */
  async interrupt(): Promise<void> {
    this.#submit()
    const dropped = this.#waiting.splice(0).length
    if (dropped > 0) this.#options.note(`${dropped} waiting turns of ${this.backed.id} were dropped by an interruption`)
    const done = this.backed.interrupt()
    if (!(await settlesWithin(done, INTERRUPT_MS)))
      throw new RemoteFailure(INTERNAL_ERROR, `the turn did not end within ${INTERRUPT_MS / 1_000} s`)
    await done
  }

  /** Nobody waits for it, and nothing new begins. */
  stop(): void {
    this.#isClosed = true
    this.#waiting.length = 0
    this.backed.interrupt().catch((error: unknown) => this.#options.note(`a turn could not be stopped: ${String(error)}`))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.length = 0
    await this.backed.close()
  }

  /** The last word to listeners before the conversation is put away. */
  tellShutdown(): void {
    this.#tell(this.#submit(), { type: 'shutdown_complete' })
  }

  #submit(): string {
    return String(this.#submissions++)
  }

  #enter(turn: WaitingTurn): void {
    if (this.#running === undefined) return this.#start(turn)
    if (this.#waiting.length >= WAITING_TURNS_MAX)
      throw new RemoteFailure(INVALID_REQUEST, `${WAITING_TURNS_MAX} turns of this conversation wait already: let some end first`)
    this.#waiting.push(turn)
  }

  #start({ submission, order }: WaitingTurn): void {
    const before = this.#current
    this.#running = submission
    this.#current = submission
    this.#turnFolder = order.folder
    try {
      const turn = this.backed.submit(order)
      void turn.ended.then((end) => this.#ended(end.kind))
    } catch (error) {
      this.#running = undefined
      this.#current = before
      throw error
    }
  }

  #ended(kind: TurnEnd['kind']): void {
    this.#running = undefined
    if (kind === 'completed') this.#hasSpoken = true
    while (this.#running === undefined && !this.#isClosed) {
      const next = this.#waiting.shift() ?? this.#carried(kind)
      if (next === undefined) return
      try {
        this.#start(next)
      } catch (error) {
        const message = messageOf(error)
        this.#tell(next.submission, { type: 'error', message })
        this.#tell(next.submission, { type: 'task_complete', last_agent_message: null })
      }
    }
  }

  /** What came during the last answer is the next turn. After an interruption nothing begins by itself: then it goes with what is said next. */
  #carried(kind: TurnEnd['kind']): WaitingTurn | undefined {
    if (kind !== 'completed' || this.backed.hasUnread !== true) return undefined
    return { submission: this.#submit(), order: { input: [] } }
  }

  #heard(event: EngineEvent): void {
    if (this.#attached === undefined) return void (this.#early.length < EARLY_EVENTS_MAX && this.#early.push(event))
    // These versions have no such event, and what one would be told as is shown to people as work that is done.
    if (event.type === 'warning') return this.#options.note(`${this.backed.id}: ${event.message}`)
    // A turn that is none of ours is one of the tools on the same wire.
    if (event.type === 'turn_started' && this.#running === undefined) this.#current = this.#submit()
    if (event.type === 'turn_ended' && event.end.kind === 'completed') this.#hasSpoken = true
    const { translator } = this.#attached
    for (const msg of translator.translate(withAbsolutePaths(event, this.#folder))) this.#tell(this.#current, msg)
  }

  #tell(submission: string, msg: EventMessage): void {
    this.outbox.event(this.#options.line(this.backed.id, submission, msg))
  }
}
