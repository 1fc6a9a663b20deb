import type { Outlet } from '../core/outlet.ts'
import type { EventStream } from './event-stream.ts'
import type { Replay } from './replay.ts'

/**
 * One stream of a legacy session. It outlives its connection: a client that was cut off comes back with the id of the
 * last event it saw and gets the rest, then what is new.
 */
export class SessionStream implements Outlet {
  readonly number: number
  readonly #replay: Replay
  /** A stream that belongs to a request goes on without a reader; the standalone one waits for one. */
  readonly #keepsWithoutReader: boolean
  readonly #attachWaiters: (() => void)[] = []
  #connection: EventStream | undefined
  #lastSeq = 0
  #done = false

  constructor(number: number, replay: Replay, keepsWithoutReader: boolean) {
    this.number = number
    this.#replay = replay
    this.#keepsWithoutReader = keepsWithoutReader
  }

  get attached(): boolean {
    return this.#connection !== undefined
  }

  eventId(seq: number): string {
    return `${this.number}-${seq}`
  }

  prime(): void {
    this.#connection?.prime(this.eventId(this.#lastSeq))
  }

  send(text: string): boolean {
    const connection = this.#connection
    if (connection === undefined) {
      if (!this.#keepsWithoutReader) return false
      this.#lastSeq += 1
      this.#replay.add(this.number, this.#lastSeq, text)
      return true
    }
    if (!connection.send(text, this.eventId(this.#lastSeq + 1))) return false
    this.#lastSeq += 1
    this.#replay.add(this.number, this.#lastSeq, text)
    return true
  }

  drained(): Promise<void> {
    if (this.#connection !== undefined) return this.#connection.drained()
    return this.#keepsWithoutReader || this.#done
      ? Promise.resolve()
      : new Promise((resolve) => this.#attachWaiters.push(resolve))
  }

  /** Joins a connection to this stream, after what it missed. Answers whether something it missed is gone. */
  attach(connection: EventStream, afterSeq: number): { readonly gap: boolean } {
    const previous = this.#connection
    const { events, gap } = this.#replay.after(this.number, afterSeq)
    // Whoever gets only a part of what was missed must not take it for all: it comes back once more.
    if (!events.every((event) => connection.send(event.text, this.eventId(event.seq)))) connection.cut()
    this.#connection = connection
    previous?.end()
    connection.onClose(() => {
      if (this.#connection === connection) this.#connection = undefined
    })
    for (const resolve of this.#attachWaiters.splice(0)) resolve()
    if (this.#done) connection.end()
    return { gap }
  }

  /** Ends the connection, not the stream: the client is told to come back. */
  dropConnection(retryMs: number): void {
    this.#connection?.retryAfter(retryMs)
    this.#connection?.end()
    this.#connection = undefined
  }

  endConnection(): void {
    this.#connection?.end()
    this.#connection = undefined
  }

  finish(text: string | undefined): void {
    this.#done = true
    if (text === undefined) this.#connection?.end()
    else {
      this.#lastSeq += 1
      this.#replay.add(this.number, this.#lastSeq, text)
      this.#connection?.sendLast(text, this.eventId(this.#lastSeq))
    }
    for (const resolve of this.#attachWaiters.splice(0)) resolve()
  }
}
