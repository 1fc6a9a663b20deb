import { WireError } from '@parley/fetch/browser'
import { type SseEvent, SseParser } from '@parley/fetch/sse'
import type { ByteShare } from '@parley/protocol/wire'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** What comes back from one HTTP request: either a stream of events, or one body. */
export interface HttpRoundEvents {
  /** The answer is a stream. */
  stream?(headers: IncomingHttpHeaders): void
  event(event: SseEvent): void
  /** The whole body of an answer that is not a stream; empty when there was none. */
  body(status: number, headers: IncomingHttpHeaders, text: string): void
  /** The stream is over: `error` says why when it was cut. */
  end(error: Error | undefined): void
  /** No answer at all. */
  unreachable(error: Error): void
}

/** One HTTP request on undici's dispatcher: no stream objects, every chunk goes straight to the parser. */
export class HttpRound implements Dispatcher.DispatchHandler {
  readonly #limitBytes: number
  readonly #events: HttpRoundEvents
  readonly #share: ByteShare | undefined
  #controller: Dispatcher.DispatchController | undefined
  #parser: SseParser | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #cancelled = false

  /** `share`: the room that what has come of an unfinished message takes. */
  constructor(limitBytes: number, events: HttpRoundEvents, share?: ByteShare) {
    this.#limitBytes = limitBytes
    this.#share = share
    this.#events = events
  }

  get retryMs(): number | undefined {
    return this.#parser?.retryMs
  }
  get lastEventId(): string | undefined {
    return this.#parser?.lastEventId
  }

  /** Closes the connection of this request; nothing is reported any more. */
  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.#controller?.abort(new WireError('aborted', 'given up'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#cancelled) controller.abort(new WireError('aborted', 'given up'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational answers come before the real one.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (status === 200 && headers['content-type']?.startsWith('text/event-stream') === true) {
      this.#parser = new SseParser(this.#limitBytes, (event) => this.#events.event(event))
      this.#events.stream?.(headers)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#cancelled) return
    if (this.#parser === undefined) {
      this.#bytes += chunk.length
      if (this.#bytes > this.#limitBytes)
        return controller.abort(new WireError('too_large', `an answer has more than ${this.#limitBytes} bytes`))
      this.#chunks.push(chunk)
      return this.#hold(controller, this.#bytes)
    }
    try {
      this.#parser.push(chunk)
      this.#hold(controller, this.#parser.heldBytes)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      controller.abort(error)
    }
  }

  #hold(controller: Dispatcher.DispatchController, bytes: number): void {
    if (this.#share?.hold(bytes) === false)
      controller.abort(new WireError('overloaded', 'there is no room for what has come of unfinished answers'))
  }

  onResponseEnd(): void {
    this.#share?.hold(0)
    if (this.#cancelled) return
    if (this.#parser !== undefined) return this.#events.end(undefined)
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined
    this.#events.body(this.#status, this.#headers, (only ?? Buffer.concat(this.#chunks)).toString('utf8'))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#share?.hold(0)
    if (this.#cancelled) return
    if (this.#parser !== undefined) this.#events.end(error)
    else this.#events.unreachable(error)
  }
}
