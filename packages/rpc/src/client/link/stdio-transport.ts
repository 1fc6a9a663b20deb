import type { Readable, Writable } from 'node:stream'
import type { ClientLimits } from '../client-limits.ts'
import { type LineFault, LineReader } from '../../stdio/lines.ts'
import type { ClientTransport, Sink, ClientLink } from './client-link.ts'

export interface StdioTransportOptions {
  /** What the server writes: its stdout. */
  readonly input: Readable
  /** What the server reads: its stdin. */
  readonly output: Writable
}

/** Newline-delimited JSON over two streams. Who made the streams, ends the process. */
export function stdioTransport(options: StdioTransportOptions): ClientTransport {
  return { kind: 'stdio', open: (sink, limits, warn) => new StdioLink(options, sink, limits, warn) }
}

class StdioLink implements ClientLink {
  readonly kind = 'stdio'
  readonly #output: Writable
  readonly #sink: Sink
  readonly #warn: (message: string) => void
  #waiting: string[] = []
  #waitingChars = 0
  #over = false

  constructor({ input, output }: StdioTransportOptions, sink: Sink, limits: ClientLimits, warn: (message: string) => void) {
    this.#output = output
    this.#sink = sink
    this.#warn = warn
    const lines = new LineReader(limits.messageBytes, {
      line: (text) => void (this.#over || sink.receive(text)),
      fault: (fault) => this.#faulty(fault, limits.messageBytes),
    })
    input.on('data', (chunk: Buffer) => lines.push(chunk))
    input.on('end', () => {
      lines.end()
      this.#end('the server ended')
    })
    input.on('close', () => this.#end('the pipe from the server closed'))
    input.on('error', (error) => this.#end(`reading from the server failed: ${error.message}`))
    output.on('error', (error) => this.#end(`writing to the server failed: ${error.message}`))
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

  /** A line that is lost may be an answer that somebody waits for; only one that cannot be one is passed over. */
  #faulty(fault: LineFault, limitBytes: number): void {
    if (fault === 'a line is not UTF-8') this.#warn('the server wrote a line that is not UTF-8')
    else
      this.#end(
        fault === 'a line is too long' ? `a line has more than ${limitBytes} bytes` : 'the server ended in the middle of a line',
      )
  }

  #end(reason: string): void {
    if (this.#over) return
    this.#over = true
    this.#output.end()
    this.#sink.ended({ code: undefined, reason })
  }
}
