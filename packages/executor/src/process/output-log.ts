import type {
  OutputChunk,
  OutputStream,
  ProcessEvent,
  ReadRequest,
  ReadResult,
  Retention,
  SequencedEvent,
  SubscribeOptions,
  Subscription,
} from './exec-process.ts'
import { LogSubscription } from './log-subscription.ts'

/** Many small chunks cost more than their bytes. As many as the real `codex exec-server` keeps. */
const RETAINED_EVENTS = 50_000
/** Dropping from the front of a list is done in pieces, or each would move all that follow. */
const COMPACT_AT = 1_024
/** No read waits longer for something to happen. */
const READ_WAIT_MAX_MS = 60_000

export interface OutputLogOptions extends Retention {
  /** Told when there is no more room (`hold`), and when there is again. */
  readonly hold?: (isHeld: boolean) => void
}

/**
 * What happened to one process: a bounded list of its latest events, those who read it live, each from a place of its own, and
 * those who wait in a read. Output is kept as it came; nothing is copied.
 */
export class OutputLog {
  readonly #options: OutputLogOptions
  #subscriptions: readonly LogSubscription[] = []
  readonly #waiting = new Set<() => void>()
  readonly #ended = Promise.withResolvers<void>()
  #events: SequencedEvent[] = []
  #head = 0
  #firstSeq = 1
  #lastSeq = 0
  #bytes = 0
  #takenSeq = 0
  #isHeld = false
  #exitCode: number | null = null
  #closedSeq: number | undefined
  #over: Extract<ProcessEvent, { kind: 'failed' | 'ended' }> | undefined

  constructor(options: OutputLogOptions) {
    this.#options = options
  }

  get lastSeq(): number {
    return this.#lastSeq
  }
  get firstSeq(): number {
    return this.#firstSeq
  }
  /** Settles when nothing more will come. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }
  get isClosed(): boolean {
    return this.#closedSeq !== undefined
  }
  get isExited(): boolean {
    return this.#exitCode !== null
  }
  /** How the log ended without a `closed`, if it did. */
  get over(): Extract<ProcessEvent, { kind: 'failed' | 'ended' }> | undefined {
    return this.#over
  }

  output(stream: OutputStream, bytes: Buffer): void {
    this.append({ kind: 'output', seq: this.#lastSeq + 1, stream, bytes })
  }
  exited(exitCode: number): void {
    this.append({ kind: 'exited', seq: this.#lastSeq + 1, exitCode })
  }
  closed(): void {
    this.append({ kind: 'closed', seq: this.#lastSeq + 1 })
  }

  /** The process cannot be followed any more. */
  fail(message: string): void {
    this.#finish({ kind: 'failed', message })
  }
  /** No more events will come. */
  end(): void {
    this.#finish({ kind: 'ended' })
  }

  /**
   * Adds an event that has its number already. One that is known is passed over. Where numbers are missing in between the log
   * begins anew with this one, and whoever had not read up to it has lagged.
   */
  append(event: SequencedEvent): void {
    if (event.seq <= this.#lastSeq || this.#over !== undefined || this.#closedSeq !== undefined) return
    if (event.seq !== this.#lastSeq + 1) this.#restartAt(event.seq)
    this.#events.push(event)
    this.#lastSeq = event.seq
    if (event.kind === 'output') this.#bytes += event.bytes.length
    else if (event.kind === 'exited') this.#exitCode = event.exitCode
    else this.#closedSeq = event.seq
    this.#tell()
    this.#makeRoom()
    if (event.kind === 'closed') this.#ended.resolve()
  }

  /** The event with this number, if it is retained. */
  at(seq: number): SequencedEvent | undefined {
    return seq < this.#firstSeq ? undefined : this.#events[this.#head + seq - this.#firstSeq]
  }

  async read({ afterSeq = 0, maxBytes = Number.POSITIVE_INFINITY, waitMs = 0, signal }: ReadRequest): Promise<ReadResult> {
    if (waitMs > 0 && this.#lastSeq <= afterSeq && !this.isClosed && this.#over === undefined)
      await this.#somethingNew(Math.min(waitMs, READ_WAIT_MAX_MS), signal)
    const chunks: OutputChunk[] = []
    let bytes = 0
    let nextSeq = Math.max(Math.min(afterSeq, this.#lastSeq) + 1, this.#firstSeq)
    for (; nextSeq <= this.#lastSeq; nextSeq += 1) {
      const event = this.at(nextSeq)
      if (event?.kind !== 'output') continue
      if (chunks.length > 0 && bytes + event.bytes.length > maxBytes) break
      chunks.push(event)
      bytes += event.bytes.length
    }
    return {
      chunks,
      nextSeq,
      exited: this.isExited,
      exitCode: this.#exitCode,
      closed: this.#closedSeq !== undefined && nextSeq > this.#closedSeq,
      failure: this.#over?.kind === 'failed' ? this.#over.message : null,
      truncated: afterSeq + 1 < this.#firstSeq,
      firstSeq: Math.min(this.#firstSeq, nextSeq),
    }
  }

  subscribe(listener: (event: ProcessEvent) => void, options: SubscribeOptions = {}): Subscription {
    const subscription = new LogSubscription(
      this,
      listener,
      {
        afterSeq: options.afterSeq ?? 0,
        takes: options.takes ?? 'handed',
        isWaitedFor: options.isWaitedFor ?? false,
        isPaused: options.isPaused ?? false,
      },
      {
        taken: () => this.#makeRoom(),
        closed: (closed) => {
          this.#takenSeq = Math.max(this.#takenSeq, closed.takenSeq)
          this.#subscriptions = this.#subscriptions.filter((each) => each !== closed)
          this.#makeRoom()
        },
      },
    )
    this.#subscriptions = [...this.#subscriptions, subscription]
    subscription.pump()
    this.#makeRoom()
    return subscription
  }

  #finish(over: Extract<ProcessEvent, { kind: 'failed' | 'ended' }>): void {
    if (this.#over !== undefined || this.isClosed) return
    this.#over = over
    this.#tell()
    this.#ended.resolve()
  }

  #restartAt(seq: number): void {
    this.#events = []
    this.#head = 0
    this.#bytes = 0
    this.#firstSeq = seq
  }

  #tell(): void {
    for (const subscription of this.#subscriptions) subscription.pump()
    if (this.#waiting.size > 0) for (const wake of this.#waiting) wake()
  }

  #somethingNew(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      signal?.addEventListener('abort', wake, { once: true })
      this.#waiting.add(wake)
    })
  }

  #makeRoom(): void {
    const { retainBytes, onFull, hold } = this.#options
    const isFull = (): boolean => this.#bytes > retainBytes || this.#lastSeq - this.#firstSeq + 1 > RETAINED_EVENTS
    if (onFull === 'hold') this.#takenSeq = this.#takenByAll()
    // What may not be lost is kept until it was taken and not longer; what may be lost is kept for as long as there is room.
    if (onFull === 'hold') while (this.#firstSeq <= Math.min(this.#takenSeq, this.#lastSeq)) this.#dropFirst()
    const droppable = onFull === 'drop' ? this.#handedToAll() : 0
    while (isFull() && this.#firstSeq <= droppable) this.#dropFirst()
    const isHeld = isFull()
    if (isHeld === this.#isHeld) return
    this.#isHeld = isHeld
    hold?.(isHeld)
  }

  /** Up to here everybody who is waited for has been handed it. */
  #handedToAll(): number {
    let least = this.#lastSeq
    for (const { cursor, isWaitedFor } of this.#subscriptions) if (isWaitedFor) least = Math.min(least, cursor)
    return least
  }

  /** Up to here everybody who reads has taken it. Without anybody nothing more is. */
  #takenByAll(): number {
    let least = Number.POSITIVE_INFINITY
    for (const { takenSeq } of this.#subscriptions) least = Math.min(least, takenSeq)
    return Number.isFinite(least) ? Math.max(this.#takenSeq, least) : this.#takenSeq
  }

  #dropFirst(): void {
    const event = this.#events[this.#head]
    if (event?.kind === 'output') this.#bytes -= event.bytes.length
    this.#head += 1
    this.#firstSeq += 1
    if (this.#head < COMPACT_AT || this.#head * 2 < this.#events.length) return
    this.#events = this.#events.slice(this.#head)
    this.#head = 0
  }
}
