import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import { HANG_MS } from './http-post.ts'
import type { MalformedRun } from './malformed-http.ts'
import type { Malformed } from './malformed-message.ts'
import { malformedMessage } from './malformed-message.ts'

const SERVER = join(dirname(fileURLToPath(import.meta.url)), '../own/stdio-main.ts')
const HEAP_SLACK = 1.1
const HEAP_SLACK_BYTES = 4 * 1024 * 1024
/** One in so many lines is written in two halves with other work in between. */
const TORN_EVERY = 20
const EXIT_MS = 2_000

/** Malformed lines to a stdio server. What is no JSON gets no answer; everything else does, and the next good line too. */
export async function malformedStdio(run: MalformedRun): Promise<void> {
  const { tally } = run
  const child = spawn(process.execPath, ['--expose-gc', SERVER], { stdio: ['pipe', 'pipe', 'ignore'] })
  const pipe = new Pipe(child.stdin, child.stdout)
  let warm = 0
  for (let number = 1; number <= run.messages; number += 1) {
    tally.count('stdio sent')
    const malformed = malformedMessage(run.seed, number)
    // A line break inside would make two lines of it.
    if (malformed.bytes.includes(0x0a)) continue
    const answers = await pipe.exchange(malformed.bytes, `probe-${number}`, number % TORN_EVERY === 0)
    if (answers === undefined) {
      tally.problem(
        `stdio, ${malformed.kind}: the server did not answer after ${malformed.bytes.subarray(0, 120).toString('latin1')}`,
      )
      break
    }
    judge(malformed, answers, run)
    if (number === Math.ceil(run.messages / 10)) warm = await pipe.heap()
  }
  const heap = await pipe.heap()
  tally.expect(heap <= warm * HEAP_SLACK + HEAP_SLACK_BYTES, `stdio: the heap grew from ${warm} to ${heap}`)
  child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"pi')
  const ended = await Promise.race([once(child, 'exit').then(([code]) => code === 0), wait(EXIT_MS, false, { ref: false })])
  tally.expect(ended, 'stdio: the server did not end by itself when its input did')
  child.kill('SIGKILL')
}

function judge(malformed: Malformed, answers: readonly string[], { tally }: MalformedRun): void {
  const what = `stdio, ${malformed.kind}: ${malformed.bytes.subarray(0, 120).toString('latin1')} -> ${answers.join(' ').slice(0, 200)}`
  if (malformed.fate === 'unparsable' || malformed.fate === 'silent') {
    tally.count('stdio without an answer')
    tally.expect(answers.length === 0, what)
    return
  }
  tally.count('stdio answered')
  const isError =
    answers.length === 1 && (answers[0]?.includes('"error"') === true || answers[0]?.includes('"isError":true') === true)
  tally.expect(malformed.fate === 'either' || isError, what)
}

class Pipe {
  readonly #input: NodeJS.WritableStream
  #received: string[] = []
  #wake: () => void = () => undefined

  constructor(input: NodeJS.WritableStream, output: NodeJS.ReadableStream) {
    this.#input = input
    createInterface({ input: output }).on('line', (line) => {
      this.#received.push(line)
      this.#wake()
    })
  }

  async exchange(line: Buffer, probe: string, torn: boolean): Promise<readonly string[] | undefined> {
    this.#received = []
    if (torn) {
      const middle = Math.floor(line.length / 2)
      this.#input.write(line.subarray(0, middle))
      await wait(1)
      this.#input.write(line.subarray(middle))
    } else this.#input.write(line)
    this.#input.write(`\n${JSON.stringify({ jsonrpc: '2.0', id: probe, method: 'ping' })}\n`)
    const late = AbortSignal.timeout(HANG_MS)
    while (!this.#received.some((text) => text.includes(`"${probe}"`))) {
      if (late.aborted) return undefined
      await new Promise<void>((done) => {
        this.#wake = done
        late.addEventListener('abort', () => done(), { once: true })
      })
    }
    return this.#received.filter((text) => !text.includes(`"${probe}"`))
  }

  async heap(): Promise<number> {
    const id = `heap-${performance.now()}`
    const answers = await this.exchange(
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'soak/memory' })),
      `${id}-probe`,
      false,
    )
    return Number(/"heap_bytes":(\d+)/.exec(answers?.join('') ?? '')?.[1] ?? Number.NaN)
  }
}
