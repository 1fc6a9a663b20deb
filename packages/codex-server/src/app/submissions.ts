import { settlesWithin } from '@parley/protocol'
import type { ApprovalDecision, ApprovalRequest, EngineEvent, InputPart } from '@parley/agent'
import type { EventMessage, TurnOrder } from '@parley/codex/port'
import type { OpenConversation, TurnTaker } from '../conversation/open-conversation.ts'
import { openTranslator } from '../event/open-translator.ts'
import type { EventTranslator } from '../event/translator.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { Approvals } from './approvals.ts'
import { INTERRUPT_MS, WAITING_TURNS_MAX } from './bounds.ts'
import type { Outbox } from './outbox.ts'
import { absoluteRequest, withAbsolutePaths } from './shape/absolute-changes.ts'

export interface SubmissionsOptions {
  readonly conversation: OpenConversation
  readonly outbox: Outbox
  readonly approvals: Approvals
  /** Where a conversation works of which nobody says it. */
  readonly folder: string
  /** The line that tells an event. */
  readonly line: (conversationId: string, submission: string, msg: EventMessage) => string
  /** Something went wrong with a turn that nobody waits for an answer to. */
  readonly note: (line: string) => void
}

/**
 * What a client of the old methods hands in to a conversation, and what it is told of it. Everything handed in has a number,
 * as in Codex: a submission.
 */
export class Submissions implements TurnTaker {
  readonly conversation: OpenConversation
  readonly outbox: Outbox
  readonly #options: SubmissionsOptions
  readonly #translator: EventTranslator
  #count = 0
  /** What events belong to: the turn under way, or the last one after its end. */
  #current: { readonly submission: string; readonly folder?: string | undefined } = { submission: '' }

  constructor(options: SubmissionsOptions) {
    const { conversation, outbox, folder } = options
    this.conversation = conversation
    this.outbox = outbox
    this.#options = options
    this.#translator = openTranslator('0.44', conversation.backed, {
      order: { folder, ...conversation.order },
      later: (messages) => this.#tell(this.#current.submission, messages),
    })
    conversation.listen(this)
  }

  /** Into the turn under way where that takes it, else as a turn of its own. */
  say(input: readonly InputPart[]): void {
    const submission = this.#submit()
    if (input.length === 0 || !this.conversation.steer(this, input)) this.#enter(submission, { input })
  }

  /** As a turn of its own, after those before it, so that what is set for it holds. */
  take(order: TurnOrder): void {
    this.#enter(this.#submit(), order)
  }

  /** Settles when nothing of the turn runs any more; what waited behind it is dropped, as Codex does. */
  async interrupt(): Promise<void> {
    this.#submit()
    const { backed } = this.conversation
    const dropped = this.conversation.drop(this)
    if (dropped > 0) this.#options.note(`${dropped} waiting turns of ${backed.id} were dropped by an interruption`)
    const done = backed.interrupt()
    if (!(await settlesWithin(done, INTERRUPT_MS)))
      throw new RemoteFailure('internal_error', `the turn did not end within ${INTERRUPT_MS / 1_000} s`)
    await done
  }

  /** The last word to listeners before the conversation is put away. */
  tellShutdown(): void {
    this.#tell(this.#submit(), [{ type: 'shutdown_complete' }])
  }

  event(event: EngineEvent): void {
    // These versions have no such event, and what one would be told as is shown to people as work that is done.
    if (event.type === 'warning') return this.#options.note(`${this.conversation.backed.id}: ${event.message}`)
    // A turn that is none of ours is one of the tools on the same wire.
    if (event.type === 'turn_started' && !this.conversation.isTurnOf(this)) this.#current = { submission: this.#submit() }
    this.#tell(this.#current.submission, this.#translator.translate(withAbsolutePaths(event, this.#folder)))
  }

  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const asker = { conversationId: this.conversation.backed.id, folder: this.#folder, outbox: this.outbox }
    const decision = await this.#options.approvals.decide(asker, absoluteRequest(request, this.#folder), signal)
    this.#submit()
    return decision
  }

  /** What came during the last answer is the next turn. */
  unread(): void {
    const submission = this.#submit()
    try {
      this.#begin(submission, { input: [] })
    } catch (error) {
      this.#refused(submission, error)
    }
  }

  get #folder(): string {
    return this.#current.folder ?? this.conversation.order.folder ?? this.#options.folder
  }

  #submit(): string {
    return String(this.#count++)
  }

  #enter(submission: string, order: TurnOrder): void {
    if (order.input.length > 0) return this.#begin(submission, order)
    // Codex ends what has nothing to do, without beginning it.
    if (!this.conversation.isSpeaking) this.#tell(submission, [{ type: 'task_complete', last_agent_message: null }])
  }

  #begin(submission: string, order: TurnOrder): void {
    if (this.conversation.waiting >= WAITING_TURNS_MAX)
      throw new RemoteFailure(
        'invalid_request',
        `${WAITING_TURNS_MAX} turns of this conversation wait already: let some end first`,
      )
    const begins = (): void => {
      this.#current = { submission, folder: order.folder }
    }
    this.conversation.take({ by: this, order, begins }).catch((error: unknown) => this.#refused(submission, error))
  }

  /** A turn that waited, and could not begin. */
  #refused(submission: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#tell(submission, [
      { type: 'error', message },
      { type: 'task_complete', last_agent_message: null },
    ])
  }

  #tell(submission: string, messages: readonly EventMessage[]): void {
    const { id } = this.conversation.backed
    for (const msg of messages) this.outbox.event(this.#options.line(id, submission, msg))
  }
}
