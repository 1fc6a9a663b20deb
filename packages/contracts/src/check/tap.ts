import { Writable, type Readable } from 'node:stream'
import { parseJson } from '@parley/protocol'
import { LineReader } from '@parley/rpc'
import type { RecordedLine } from '../registry/registry-types.ts'

const LINE_BYTES = 16 * 1024 * 1024
/** A server that sends more than this in one scenario has run away. */
const LINES_MAX = 20_000

/** Everything that goes between a client and a server, also when the client gives up half way. */
export class Tap {
  readonly lines: RecordedLine[] = []
  /** Lines of the server that are no JSON. */
  readonly garbage: string[] = []
  readonly stdin: Writable

  constructor(stdin: Writable, stdout: Readable) {
    const [sent, received] = [this.#reader('>'), this.#reader('<')]
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        sent.push(chunk)
        stdin.write(chunk, () => done())
      },
    })
    stdout.on('data', (chunk: Buffer) => received.push(chunk))
  }

  #reader(dir: '>' | '<'): LineReader {
    return new LineReader(LINE_BYTES, {
      line: (text) => this.#keep(dir, text),
      fault: () => undefined,
    })
  }

  #keep(dir: '>' | '<', text: string): void {
    if (this.lines.length >= LINES_MAX) return
    const message = parseJson(text)
    if (message !== undefined) this.lines.push({ dir, message })
    else if (this.garbage.length < LINES_MAX) this.garbage.push(text.slice(0, 200))
  }
}
