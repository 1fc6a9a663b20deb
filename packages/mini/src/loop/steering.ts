import type { InputPart } from '@parley/agent'
import { addInput } from './add-input.ts'
import type { ConversationState } from './conversation-state.ts'

/** What is said to a turn that is under way. Bounded: one that asks a model nothing for long takes no more. */
export class Steering {
  #waiting: (readonly InputPart[])[] = []
  #isOpen = true

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** False: the turn takes nothing any more. */
  add(input: readonly InputPart[]): boolean {
    if (!this.#isOpen || this.#waiting.length >= STEERING_WAITING) return false
    this.#waiting.push(input)
    return true
  }

  /** Puts what waits into the conversation. */
  take(state: ConversationState): void {
    for (const input of this.#waiting.splice(0)) addInput(state, { input })
  }

  /** The last answer is given: true, and from now on nothing is taken, unless something still waits for a request. */
  closeIfEmpty(): boolean {
    if (this.#waiting.length === 0) this.#isOpen = false
    return !this.#isOpen
  }

  close(): void {
    this.#isOpen = false
  }
}

const STEERING_WAITING = 256
