import type { ActStatus, ApprovalDecision } from '@parley/agent'
import type { EventMessage } from '@parley/codex/port'

/** How long a beginning waits for the question whether it may, where there may be one and where there should be none. */
export const QUESTION_MS = { asking: 1_000, never: 50 } as const

interface Held {
  readonly tell: (wasAsked: boolean, out: EventMessage[]) => void
  timer: NodeJS.Timeout | undefined
  question: string | undefined
}

/** Commands and patches that have begun for the engine, and not yet for the client. */
export class HeldActs {
  readonly #held = new Map<string, Held>()
  readonly #later: ((messages: readonly EventMessage[]) => void) | undefined
  readonly #questionMs: number

  constructor(later: ((messages: readonly EventMessage[]) => void) | undefined, questionMs: number) {
    this.#later = later
    this.#questionMs = questionMs
  }

  hold(call: string, tell: Held['tell']): void {
    const held: Held = { tell, timer: undefined, question: undefined }
    this.#held.set(call, held)
    const later = this.#later
    if (later === undefined) return
    held.timer = setTimeout(() => {
      const out: EventMessage[] = []
      this.release(call, out)
      later(out)
    }, this.#questionMs)
    held.timer.unref()
  }

  /** Somebody is asked whether it may begin. */
  asked(call: string, question: string): void {
    const held = this.#held.get(call)
    if (held === undefined) return
    clearTimeout(held.timer)
    held.question = question
  }

  resolved(question: string, decision: ApprovalDecision, out: EventMessage[]): void {
    if (decision !== 'approved' && decision !== 'approved_for_session') return
    for (const [call, held] of this.#held) if (held.question === question) this.release(call, out)
  }

  release(call: string, out: EventMessage[]): void {
    const held = this.#held.get(call)
    if (held === undefined) return
    clearTimeout(held.timer)
    this.#held.delete(call)
    held.tell(held.question !== undefined, out)
  }

  /** True: it never began, because it was not allowed or nobody answered, and is forgotten. */
  drop(call: string, status: ActStatus): boolean {
    const held = this.#held.get(call)
    if (held === undefined || (status !== 'declined' && held.question === undefined)) return false
    clearTimeout(held.timer)
    this.#held.delete(call)
    return true
  }

  clear(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer)
    this.#held.clear()
  }
}
