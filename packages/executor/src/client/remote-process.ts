import type { JsonObject } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/frame'
import { z } from 'zod'
import { ReadAnswer, readResultOf } from '../api/wire-event.ts'
import { OutputLog } from '../process/output-log.ts'
import {
  DEFAULT_RETENTION,
  type ExecProcess,
  type ExecSignal,
  type ProcessEvent,
  type ReadRequest,
  type ReadResult,
  type Retention,
  type SequencedEvent,
  type SubscribeOptions,
  type Subscription,
  type WriteStatus,
} from '../process/exec-process.ts'
import type { ExecutorLink } from './executor-link.ts'

/** What was taken is said when it is this part of what the server keeps: often enough that it need not wait for us. */
const SAY_TAKEN_AT = 1 / 4

/**
 * The real exec-server tells that a process exited and what it said from two hands, and now and then a number comes before the one below it. So
 * much waits for a missing one, and for so long; then it is read.
 */
const EARLY_EVENTS = 1_024
const EARLY_BYTES = 16 * 1024 * 1024
const EARLY_MS = 100

const WriteAnswer = z.object({ status: z.enum(['accepted', 'unknownProcess', 'stdinClosed', 'starting']) })
const TerminateAnswer = z.object({ running: z.boolean() })

/** A process on the other side of an executor's link. */
export class RemoteProcess implements ExecProcess {
  readonly processId: string
  readonly #link: ExecutorLink
  readonly #retention: Retention
  // What is here is a copy of what the server keeps: it may go when there is too much of it.
  readonly #log = new OutputLog(DEFAULT_RETENTION)
  #lastWrite = 0
  #isStarted = false
  #isBehind = false
  #isCatchingUp = false
  #hasMissed = false
  #untakenBytes = 0
  #takenSeq = 0
  /** What came before its turn, by number. */
  readonly #early = new Map<number, SequencedEvent>()
  #earlyBytes = 0
  #waiting: NodeJS.Timeout | undefined

  readonly endInput?: () => void

  constructor(processId: string, link: ExecutorLink, retention: Retention) {
    this.processId = processId
    this.#link = link
    this.#retention = retention
    if (link.can('endInput')) this.endInput = () => link.tell('process/endInput', { processId })
  }

  get lastSeq(): number {
    return this.#log.lastSeq
  }
  get ended(): Promise<void> {
    return this.#log.ended
  }

  async write(input: Buffer | string, writeId = this.#nextWriteId()): Promise<WriteStatus> {
    const params = { processId: this.processId, chunk: Buffer.from(input).toString('base64'), writeId }
    const { answer } = await this.#link.ask('process/write', params)
    return WriteAnswer.parse(answer).status
  }

  async read({ afterSeq = 0, maxBytes, waitMs = 0, signal }: ReadRequest): Promise<ReadResult> {
    const params = { processId: this.processId, afterSeq, maxBytes: maxBytes ?? null, waitMs }
    const { answer } = await this.#link.ask('process/read', params, { waitMs, ...(signal === undefined ? {} : { signal }) })
    return readResultOf(ReadAnswer.parse(answer))
  }

  async signal(signal: ExecSignal): Promise<void> {
    await this.#link.ask('process/signal', { processId: this.processId, signal })
  }

  async terminate({ force }: { readonly force?: boolean } = {}): Promise<boolean> {
    const params: JsonObject = { processId: this.processId, ...(force === undefined ? {} : { force }) }
    const { answer } = await this.#link.ask('process/terminate', params)
    return TerminateAnswer.parse(answer).running
  }

  subscribe(listener: (event: ProcessEvent) => void, options: SubscribeOptions = {}): Subscription {
    const hand = (event: ProcessEvent): void => {
      listener(event)
      if (options.takes !== 'said' && 'seq' in event) this.#handed(event)
    }
    const subscription = this.#log.subscribe(hand, options)
    return {
      pause: () => subscription.pause(),
      resume: () => subscription.resume(),
      taken: (seq) => this.#taken(seq),
      close: () => subscription.close(),
    }
  }

  /** What the server pushed. While something before it is read back it waits. */
  pushed(event: SequencedEvent): void {
    if (this.#isBehind || event.seq > this.#log.lastSeq + 1) return this.#wait(event)
    this.#log.append(event)
    if (this.#early.size > 0) this.#takeEarly()
  }

  /** There is no connection: what comes on the next one is taken after `catchUp`. */
  suspend(): void {
    this.#isBehind = true
  }

  /** The server has it. What was missed before that is read now. */
  started(): void {
    this.#isStarted = true
    if (this.#isBehind) void this.catchUp()
  }

  /** Reads what came while there was no connection. A server that has not heard of the process yet has nothing to read. */
  async catchUp(): Promise<void> {
    if (this.#isCatchingUp || !this.#isStarted || this.#log.isClosed) return
    this.#isCatchingUp = true
    this.#isBehind = true
    clearTimeout(this.#waiting)
    try {
      do {
        this.#hasMissed = false
        this.#add(await this.read({ afterSeq: this.#log.lastSeq }))
      } while (this.#hasMissed)
      // What was said last may have been lost with the connection, and the process would wait for it for ever.
      this.#sayTaken()
    } catch (error) {
      // Another cut brings us here again; a server that does not know the process never will.
      if (error instanceof RemoteFailure) this.fail(error.message)
    } finally {
      this.#isCatchingUp = false
      this.#isBehind = false
    }
    this.#takeEarly()
    if (this.#early.size > 0) this.#readLater()
  }

  fail(message: string): void {
    clearTimeout(this.#waiting)
    this.#early.clear()
    this.#log.fail(message)
  }

  /** What waited for the events before it and does so no more. */
  #takeEarly(): void {
    for (let next = this.#early.get(this.#log.lastSeq + 1); next !== undefined; next = this.#early.get(this.#log.lastSeq + 1)) {
      this.#forgetEarly(next)
      this.#log.append(next)
    }
    if (this.#early.size === 0) clearTimeout(this.#waiting)
  }

  #wait(event: SequencedEvent): void {
    const isFull = this.#early.size >= EARLY_EVENTS || this.#earlyBytes >= EARLY_BYTES
    if (isFull) {
      // It is read with what it waits for.
      this.#hasMissed = true
      void this.catchUp()
    } else if (event.seq > this.#log.lastSeq && !this.#early.has(event.seq)) {
      if (this.#early.size === 0 && !this.#isBehind) this.#readLater()
      this.#early.set(event.seq, event)
      this.#earlyBytes += sizeOf(event)
    }
  }

  #readLater(): void {
    clearTimeout(this.#waiting)
    this.#waiting = setTimeout(() => void this.catchUp(), EARLY_MS)
    this.#waiting.unref()
  }

  #forgetEarly(event: SequencedEvent): void {
    if (this.#early.delete(event.seq)) this.#earlyBytes -= sizeOf(event)
  }

  /**
   * An answer holds the chunks alone: that it exited and closed stands beside them, and their numbers are the ones left out. What the
   * server gave up may have come here before.
   */
  #add({ chunks, nextSeq, exitCode, closed, failure }: ReadResult): void {
    const early = [...this.#early.values()].filter(({ seq }) => seq < nextSeq)
    for (const event of early) this.#forgetEarly(event)
    const isExitKnown = early.some(({ kind }) => kind === 'exited')
    const addExit = (): void => {
      if (exitCode !== null && !isExitKnown && !this.#log.isExited) this.#log.exited(exitCode)
    }
    const read: SequencedEvent[] = chunks.map((chunk) => ({ kind: 'output', ...chunk }))
    for (const event of [...early, ...read].sort((a, b) => a.seq - b.seq)) {
      if (event.seq === this.#log.lastSeq + 2) addExit()
      this.#log.append(event)
    }
    if (this.#log.lastSeq + 1 < nextSeq) addExit()
    if (closed && this.#log.lastSeq + 1 < nextSeq) this.#log.closed()
    if (failure !== null) this.#log.fail(failure)
  }

  #handed(event: SequencedEvent): void {
    this.#takenSeq = Math.max(this.#takenSeq, event.seq)
    if (event.kind === 'output') this.#untakenBytes += event.bytes.length
    if (event.kind === 'closed' || this.#untakenBytes >= this.#retention.retainBytes * SAY_TAKEN_AT) this.#sayTaken()
  }

  #taken(seq: number): void {
    this.#takenSeq = Math.max(this.#takenSeq, seq)
    this.#sayTaken()
  }

  #sayTaken(): void {
    this.#untakenBytes = 0
    const { onFull } = this.#retention
    if (onFull === 'hold' && this.#takenSeq > 0)
      this.#link.tell('process/taken', { processId: this.processId, seq: this.#takenSeq })
  }

  #nextWriteId(): string {
    this.#lastWrite += 1
    return String(this.#lastWrite)
  }
}

const sizeOf = (event: SequencedEvent): number => (event.kind === 'output' ? event.bytes.length : 0)
