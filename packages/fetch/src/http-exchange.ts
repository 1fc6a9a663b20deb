import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** What is kept of a body that nobody reads; beyond it the other side has to wait. */
const HELD_BYTES = 64 * 1024

/** The head of an answer. */
export interface ExchangeHead {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** What went wrong, and whether that was before the head or after. */
export type ExchangeFailure = (error: unknown) => Error

/**
 * One request and the body of its answer, taken from the connection as it comes. One listener on the signal serves all of it,
 * also while the request still waits for a connection. Whoever stops reading before the end gives the connection up.
 */
export class HttpExchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Buffer> {
  readonly #head = Promise.withResolvers<ExchangeHead>()
  readonly #signal: AbortSignal | undefined
  readonly #failureOf: ExchangeFailure
  readonly #abort = (): void => this.#giveUp(new Error('given up'))
  #controller: Dispatcher.DispatchController | undefined
  #hasHead = false
  #pieces: Buffer[] = []
  #heldBytes = 0
  #isOver = false
  #failure: Error | undefined
  /** Whoever waits for the next piece. */
  #news: PromiseWithResolvers<void> | undefined

  constructor(signal: AbortSignal | undefined, failureOf: ExchangeFailure) {
    this.#signal = signal
    this.#failureOf = failureOf
    if (signal?.aborted === true) this.#abort()
    else signal?.addEventListener('abort', this.#abort)
  }

  get head(): Promise<ExchangeHead> {
    return this.#head.promise
  }
  get isOver(): boolean {
    return this.#isOver
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure !== undefined) controller.abort(this.#failure)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return
    this.#hasHead = true
    this.#head.resolve({ status, headers })
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#isOver) return
    this.#pieces.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes >= HELD_BYTES) controller.pause()
    this.#tell()
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
  }

  /** What came before a failure is read before it. */
  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      const piece = this.#pieces.shift()
      if (piece !== undefined) {
        this.#heldBytes -= piece.length
        if (this.#isOver) this.#end()
        else if (this.#heldBytes < HELD_BYTES) this.#controller?.resume()
        return { done: false, value: piece }
      }
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isOver) return { done: true, value: undefined }
      this.#news ??= Promise.withResolvers()
      await this.#news.promise
    }
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    const isCut = !this.#isOver
    this.#drop()
    this.#end()
    if (isCut) this.#controller?.abort(new Error('not read to its end'))
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Also what has come but was not read is given up. */
  #giveUp(error: Error): void {
    this.#drop()
    this.#isOver = false
    this.#fail(error)
    this.#controller?.abort(error)
  }

  #drop(): void {
    this.#pieces = []
    this.#heldBytes = 0
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#failure = this.#failureOf(error)
    if (!this.#hasHead) this.#head.reject(this.#failure)
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    if (this.#pieces.length === 0) this.#signal?.removeEventListener('abort', this.#abort)
    this.#tell()
  }

  #tell(): void {
    this.#news?.resolve()
    this.#news = undefined
  }
}
