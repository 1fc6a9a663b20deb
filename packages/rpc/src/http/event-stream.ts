import type { ServerResponse } from 'node:http'
import type { BodyShare } from '../limit/body-room.ts'
import { onOneLine } from '../message/text.ts'

export interface EventStreamStart {
  readonly bufferBytes: number
  readonly open: Set<EventStream>
  /** Where is counted what the reader has not taken; given back when the stream is closed. */
  readonly unread: BodyShare
  readonly headers: Record<string, string>
}

/**
 * One server-sent-events response being written. Bounded: what a slow reader has not taken is never more than the limit, and
 * one message where the room of its person is used up by others.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #bufferBytes: number
  readonly #open: Set<EventStream>
  readonly #unread: BodyShare
  #isOutOfRoom = false
  readonly #drained: (() => void)[] = []
  readonly #closed: (() => void)[] = []
  #fullSince: number | undefined
  #ending = false
  #over = false

  constructor(response: ServerResponse, { bufferBytes, open, unread, headers }: EventStreamStart) {
    this.#response = response
    this.#bufferBytes = bufferBytes
    this.#open = open
    this.#unread = unread
    open.add(this)
    response.on('drain', () => {
      this.#fullSince = undefined
      this.#count()
      this.#release()
    })
    response.on('close', () => this.#finished())
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
  }

  get over(): boolean {
    return this.#over
  }

  /** Only when a `drain` is sure to come: below Node's own mark none does, however small our limit is. */
  get #full(): boolean {
    const isBehind = this.#isOutOfRoom || this.#response.writableLength > this.#bufferBytes
    return isBehind && this.#response.writableNeedDrain
  }

  /** False when the reader lags: the message was not taken. */
  send(text: string, id?: string): boolean {
    if (this.#over || this.#ending || this.#full) return false
    const line = onOneLine(text)
    this.#write(id === undefined ? `data: ${line}\n\n` : `id: ${id}\ndata: ${line}\n\n`)
    return true
  }

  /**
   * Sends the last message and ends; to a reader that lags when it has caught up. It may be large: without room to keep it
   * until it is read the connection is cut.
   */
  sendLast(text: string, id?: string): void {
    if (this.#over || this.#ending) return
    if (this.#unread.hold(this.#response.writableLength + text.length) !== undefined) return this.cut()
    if (this.send(text, id)) return this.end()
    void this.drained().then(() => {
      this.send(text, id)
      this.end()
    })
  }

  /** An event that only tells where the stream stands, so that a client can resume before the first message. */
  prime(id: string): void {
    this.#write(`id: ${id}\ndata: \n\n`)
  }

  /** Tells the client how long to wait before it comes back. */
  retryAfter(ms: number): void {
    this.#write(`retry: ${ms}\n\n`)
  }

  keepAlive(): void {
    if (this.#response.writableLength === 0) this.#write(':\n\n')
  }

  cut(): void {
    this.#response.destroy()
  }

  /** Cuts a reader that has taken nothing for too long. */
  cutIfStalled(now: number, stalledMs: number): void {
    if (this.#fullSince !== undefined && now - this.#fullSince > stalledMs) this.cut()
  }

  drained(): Promise<void> {
    if (this.#over || (!this.#ending && !this.#full)) return Promise.resolve()
    return new Promise((resolve) => this.#drained.push(resolve))
  }

  onClose(listener: () => void): void {
    if (this.#over) listener()
    else this.#closed.push(listener)
  }

  end(): void {
    if (this.#over || this.#ending) return
    this.#ending = true
    this.#response.end()
  }

  #write(text: string): void {
    // A write after the end is an error that nobody catches, and a slow reader makes the time between end and close long.
    if (this.#over || this.#ending) return
    if (this.#response.write(text)) return
    this.#fullSince ??= performance.now()
    this.#count()
  }

  #count(): void {
    this.#isOutOfRoom = this.#unread.hold(this.#response.writableLength) !== undefined
  }

  #release(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  #finished(): void {
    if (this.#over) return
    this.#over = true
    this.#open.delete(this)
    this.#unread.release()
    this.#release()
    for (const listener of this.#closed.splice(0)) listener()
  }
}
