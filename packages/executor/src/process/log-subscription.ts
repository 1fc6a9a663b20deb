import type { ProcessEvent, SequencedEvent, SubscribeOptions, Subscription } from './exec-process.ts'

/** What a subscription reads from. */
interface LogView {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly over: Extract<ProcessEvent, { kind: 'failed' | 'ended' }> | undefined
  at(seq: number): SequencedEvent | undefined
}

interface Told {
  taken(): void
  closed(subscription: LogSubscription): void
}

/** One reader's place in a log. */
export class LogSubscription implements Subscription {
  readonly #log: LogView
  readonly #listener: (event: ProcessEvent) => void
  readonly #takes: 'handed' | 'said'
  readonly #told: Told
  readonly isWaitedFor: boolean
  #cursor: number
  #saidSeq = 0
  #isPaused = false
  #isPumping = false
  #isOver = false

  constructor(log: LogView, listener: (event: ProcessEvent) => void, options: Required<SubscribeOptions>, told: Told) {
    this.#log = log
    this.#listener = listener
    this.#takes = options.takes
    this.isWaitedFor = options.isWaitedFor
    this.#told = told
    this.#cursor = options.afterSeq
    this.#isPaused = options.isPaused
  }

  /** The last that it was handed. */
  get cursor(): number {
    return this.#cursor
  }
  get takenSeq(): number {
    return this.#takes === 'handed' ? Math.max(this.#cursor, this.#saidSeq) : this.#saidSeq
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.pump()
    this.#told.taken()
  }

  taken(seq: number): void {
    if (seq <= this.#saidSeq) return
    this.#saidSeq = Math.min(seq, this.#log.lastSeq)
    this.#told.taken()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#told.closed(this)
  }

  /** Hands over what there is. A listener that causes more to happen does not get it inside of its own call. */
  pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while (!this.#isPaused && !this.#isOver) {
        const event = this.#next()
        if (event === undefined) return
        this.#listener(event)
      }
    } finally {
      this.#isPumping = false
    }
  }

  #next(): ProcessEvent | undefined {
    const { firstSeq, lastSeq, over } = this.#log
    const skipped = firstSeq - 1 - this.#cursor
    if (skipped > 0) {
      this.#cursor = firstSeq - 1
      return { kind: 'lagged', skipped }
    }
    if (this.#cursor < lastSeq) {
      this.#cursor += 1
      return this.#log.at(this.#cursor)
    }
    if (over === undefined) return undefined
    this.#isOver = true
    return over
  }
}
