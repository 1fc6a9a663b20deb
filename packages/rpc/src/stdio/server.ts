import type { Readable, Writable } from 'node:stream'
import { loneWire, type ServedWire } from '../core/served-wire.ts'
import { type LinkOutlet, LinkServer } from '../core/link-server.ts'
import type { Limits } from '../limits.ts'
import { onOneLine } from '../message/text.ts'
import type { Observer } from '../observer.ts'
import type { Caller, Service } from '../service.ts'
import { LineReader } from './lines.ts'

export interface StdioServerOptions {
  readonly input: Readable
  readonly output: Writable
  readonly service: Service
  readonly limits?: Partial<Limits>
  readonly observer?: Observer
  /** What goes wrong with the input itself: never to stdout, where only the protocol may be. */
  readonly warn?: (message: string) => void
}

const CALLER: Caller = { key: 'stdio' }
/** How much more may wait for the reader when it is an answer. */
const ANSWERS_TIMES = 2

/** Serves one client on a pair of streams, until the input ends. Calls under way are interrupted then. */
export async function serveStdio({ service, limits, observer, ...streams }: StdioServerOptions): Promise<void> {
  const served = loneWire({ wire: 'stdio', service, caller: CALLER, limits, observer })
  await serveLines({ ...streams, served, caller: CALLER })
}

export interface LinesStart<C extends Caller> extends Pick<StdioServerOptions, 'input' | 'output' | 'warn'> {
  /** What it shares with others of its wire. */
  readonly served: ServedWire<C>
  readonly caller: C
}

/** The same for one of several clients of a wire. */
export async function serveLines<C extends Caller>({ input, output, warn, served, caller }: LinesStart<C>): Promise<void> {
  const { limits } = served
  const outlet = new PipeOutlet(output, limits.streamBufferBytes)
  const server = new LinkServer<C>({ served, caller, outlet, onGarbage: () => warn?.('input: a line is not JSON') })
  const lines = new LineReader(limits.messageBytes, {
    line: (text) => server.receive(text),
    fault: (fault) => warn?.(`input: ${fault}`),
  })
  output.on('error', () => server.closed('the output is gone'))
  output.on('close', () => {
    server.closed('the output is gone')
    outlet.release()
  })
  output.on('drain', () => outlet.release())
  input.on('data', (chunk: Buffer) => lines.push(chunk))
  await new Promise<void>((resolve) => {
    input.on('end', resolve)
    input.on('close', resolve)
    input.on('error', () => resolve())
  })
  lines.end()
  server.closed('the input ended')
}

class PipeOutlet implements LinkOutlet {
  readonly #output: Writable
  readonly #bufferBytes: number
  readonly #waiters: (() => void)[] = []

  constructor(output: Writable, bufferBytes: number) {
    this.#output = output
    this.#bufferBytes = bufferBytes
  }

  /** Only when a `drain` is sure to come: below Node's own mark none does, however small our limit is. */
  get #full(): boolean {
    return this.#output.writableLength > this.#bufferBytes && this.#output.writableNeedDrain
  }

  /** Answers have room of their own: whoever is told much while it waits must still get what it waits for. */
  answer(text: string): boolean {
    if (this.#output.destroyed || this.#output.writableLength > ANSWERS_TIMES * this.#bufferBytes) return false
    this.#output.write(`${onOneLine(text)}\n`)
    return true
  }

  send(text: string): boolean {
    if (this.#output.destroyed || this.#full) return false
    this.#output.write(`${onOneLine(text)}\n`)
    return true
  }

  drained(): Promise<void> {
    if (this.#output.closed || (!this.#output.destroyed && !this.#full)) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  close(): void {
    this.#output.end()
  }
}
