import {
  type ApprovalDecision,
  type ApprovalRequest,
  type ConversationListener,
  type EngineEvent,
  fullReply,
} from '@parley/agent'

/** Asks the listener of one conversation, and tells what was asked and answered. Nothing stays unanswered. */
export class BridgeApprovals {
  readonly #listener: ConversationListener
  readonly #tell: (event: EngineEvent) => void
  readonly #waiting = new Set<() => void>()
  /** Calls that were denied in this turn. */
  readonly declined = new Set<string>()

  constructor(listener: ConversationListener, tell: (event: EngineEvent) => void) {
    this.#listener = listener
    this.#tell = tell
  }

  /** A listener that fails denies. `signal`: Codex does not wait any more. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const controller = new AbortController()
    this.#tell({ type: 'approval_requested', request })
    return new Promise((resolve) => {
      const settle = (decision: ApprovalDecision): void => {
        if (!this.#waiting.delete(abandon)) return
        signal.removeEventListener('abort', abandon)
        if (decision === 'denied' || decision === 'abort') this.declined.add(request.call)
        this.#tell({ type: 'approval_resolved', id: request.id, decision })
        resolve(decision)
      }
      const abandon = (): void => {
        controller.abort()
        settle('abort')
      }
      this.#waiting.add(abandon)
      if (signal.aborted) return abandon()
      signal.addEventListener('abort', abandon, { once: true })
      askListener(this.#listener, request, controller.signal).then(settle, () => settle('denied'))
    })
  }

  /** Nobody waits for any answer any more. */
  abandon(): void {
    for (const abandon of [...this.#waiting]) abandon()
  }

  startTurn(): void {
    this.declined.clear()
  }
}

/** A listener may throw instead of rejecting. */
async function askListener(
  listener: ConversationListener,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalDecision> {
  const { decision, arguments: edited } = fullReply(await listener.approve(request, signal))
  // Codex takes a word and nothing else: what somebody wants otherwise is not done as it was.
  return edited === undefined ? decision : 'denied'
}
