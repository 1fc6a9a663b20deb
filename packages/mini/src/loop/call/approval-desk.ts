import { type ApprovalRequest, type ConversationListener, type EngineEvent, type FullReply, fullReply } from '@parley/agent'
import type { Stopper } from '../stopper.ts'

const ID_BYTES = 12

export interface DeskOptions {
  readonly listener: ConversationListener
  readonly emit: (event: EngineEvent) => void
  readonly random: (size: number) => Uint8Array
}

type Unnumbered<Request> = Request extends ApprovalRequest ? Omit<Request, 'id'> : never
/** A request before the desk has given it its id. */
export type UnnumberedRequest = Unnumbered<ApprovalRequest>

/** Asks whoever listens, and remembers for this conversation what was approved for good. */
export class ApprovalDesk {
  readonly #listener: ConversationListener
  readonly #emit: (event: EngineEvent) => void
  readonly #random: (size: number) => Uint8Array
  readonly #remembered = new Set<string>()

  constructor({ listener, emit, random }: DeskOptions) {
    this.#listener = listener
    this.#emit = emit
    this.#random = random
  }

  /** Whether the same was approved for the session. */
  remembers(subject: string): boolean {
    return this.#remembered.has(subject)
  }

  /** Waits as long as it takes; a stop of the turn answers `abort`. */
  async ask(asked: UnnumberedRequest, subject: string, stopper: Stopper): Promise<FullReply> {
    const request: ApprovalRequest = { id: `apr_${Buffer.from(this.#random(ID_BYTES)).toString('hex')}`, ...asked }
    this.#emit({ type: 'approval_requested', request })
    const answer = await this.#decide(request, stopper)
    const { decision } = answer
    // What somebody changed first is not what the next call of its kind would do.
    if (decision === 'approved_for_session' && answer.arguments === undefined) this.#remembered.add(subject)
    this.#emit({ type: 'approval_resolved', id: request.id, decision })
    return answer
  }

  async #decide(request: ApprovalRequest, stopper: Stopper): Promise<FullReply> {
    try {
      const asking = Promise.resolve(this.#listener.approve(request, stopper.signal))
      const answer = await stopper.waitUnlessStopped(asking)
      return fullReply(answer.kind === 'stopped' ? 'abort' : answer.value)
    } catch {
      return { decision: 'denied' }
    }
  }
}
