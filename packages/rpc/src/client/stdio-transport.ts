import type { Readable, Writable } from 'node:stream'
import type { ClientLimits } from './client-limits.ts'
import { LineSplitter } from './line-splitter.ts'
import type { ClientTransport, OutgoingRequest, Sink, Wire } from './transport.ts'
import { WireError } from './wire-error.ts'

export interface StdioTransportOptions {
  /** What the server writes: its stdout. */
  readonly input: Readable
  /** What the server reads: its stdin. */
  readonly output: Writable
}

/** Newline-delimited JSON over two streams. Who made the streams, ends the process. */
export function stdioTransport(options: StdioTransportOptions): ClientTransport {
  return { kind: 'stdio', open: (sink, limits) => new StdioWire(options, sink, limits) }
}

class StdioWire implements Wire {
  readonly kind = 'stdio'
  readonly #output: Writable
  readonly #sink: Sink
  readonly #lines: LineSplitter
  #waiting: string[] = []
  #waitingChars = 0
  #over = false

  constructor({ input, output }: StdioTransportOptions, sink: Sink, limits: ClientLimits) {
    this.#output = output
    this.#sink = sink
    this.#lines = new LineSplitter(limits.messageBytes, (line) => sink.receive(line))
    input.on('data', (chunk: Buffer) => this.#heard(chunk))
    input.on('end', () => this.#end(this.#lines.heldBytes > 0 ? 'the server ended in the middle of a line' : 'the server ended'))
    input.on('close', () => this.#end('the pipe from the server closed'))
    input.on('error', (error) => this.#end(`reading from the server failed: ${error.message}`))
    output.on('error', (error) => this.#end(`writing to the server failed: ${error.message}`))
  }

  request({ text }: OutgoingRequest): void {
    this.send(text)
  }

  /** Messages of one turn of the event loop go out in one write: on a busy pipe the system call is what costs. */
  send(text: string): void {
    if (this.#over) return
    if (this.#waiting.push(text) === 1) setImmediate(() => this.#flush())
    this.#waitingChars += text.length
  }

  bufferedBytes(): number {
    return this.#output.writableLength + this.#waitingChars
  }

  abandon(): void {}
  agreed(): void {}
  initialized(): void {}
  forgetSession(): void {}

  close(): Promise<void> {
    this.#flush()
    this.#over = true
    this.#output.end()
    return Promise.resolve()
  }

  #flush(): void {
    if (this.#over || this.#waiting.length === 0) return
    const text = this.#waiting.length === 1 ? `${this.#waiting[0]}\n` : `${this.#waiting.join('\n')}\n`
    this.#waiting = []
    this.#waitingChars = 0
    this.#output.write(text)
  }

  #heard(chunk: Buffer): void {
    if (this.#over) return
    try {
      this.#lines.push(chunk)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.#end(error.message)
    }
  }

  #end(reason: string): void {
    if (this.#over) return
    this.#over = true
    this.#output.end()
    this.#sink.ended({ code: undefined, reason })
  }
}
