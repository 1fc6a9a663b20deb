import type { ServerResponse } from 'node:http'
import { onOneLine } from '../message-text.ts'

/** One server-sent-events response being written. Bounded: what a slow reader has not taken is never more than the limit. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #bufferBytes: number
  readonly #open: Set<EventStream>
  readonly #drained: (() => void)[] = []
  readonly #closed: (() => void)[] = []
  #fullSince: number | undefined
  #ending = false
  #over = false

  constructor(response: ServerResponse, bufferBytes: number, open: Set<EventStream>, headers: Record<string, string>) {
    this.#response = response
    this.#bufferBytes = bufferBytes
    this.#open = open
    open.add(this)
    response.on('drain', () => {
      this.#fullSince = undefined
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
    return this.#response.writableLength > this.#bufferBytes && this.#response.writableNeedDrain
  }

  /** False when the reader lags: the message was not taken. */
  send(text: string, id?: string): boolean {
    if (this.#over || this.#ending || this.#full) return false
    const line = onOneLine(text)
    this.#write(id === undefined ? `data: ${line}\n\n` : `id: ${id}\ndata: ${line}\n\n`)
    return true
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

  /** Cuts a reader that has taken nothing for too long. */
  cutIfStalled(now: number, stalledMs: number): void {
    if (this.#fullSince !== undefined && now - this.#fullSince > stalledMs) this.#response.destroy()
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
    if (!this.#response.write(text)) this.#fullSince ??= performance.now()
  }

  #release(): void {
    for (const resolve of this.#drained.splice(0)) resolve()
  }

  #finished(): void {
    if (this.#over) return
    this.#over = true
    this.#open.delete(this)
    this.#release()
    for (const listener of this.#closed.splice(0)) listener()
  }
}
