import type { ConversationLog } from '../transcript/conversation-log.ts'

/**
 * Which calls of a turn were sent, written down before they are. It costs a write for each call, so it is done only where somebody keeps approvals: for
 * everybody else a call that has no output may have been sent.
 */
export class SentCalls {
  readonly #log: ConversationLog
  readonly #isKept: boolean
  readonly #sent = new Map<string, Promise<void>>()
  #isOver = false

  constructor(log: ConversationLog, isKept: boolean) {
    this.#log = log
    this.#isKept = isKept
  }

  /** Settles when it is on the disk that the call is sent; rejects when the turn is over. */
  send(call: string): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error('the turn is over'))
    if (!this.#isKept) return DONE
    const known = this.#sent.get(call)
    if (known !== undefined) return known
    this.#log.add({ type: 'dispatched', call })
    const writing = this.#log.flush()
    this.#sent.set(call, writing)
    return writing
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isOver = true
  }

  mayBeSent(call: string): boolean {
    return !this.#isKept || this.#sent.has(call)
  }
}

const DONE = Promise.resolve()
