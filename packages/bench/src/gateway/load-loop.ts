import { median } from '../statistics.ts'
import { ECHO_TEXT } from './echo-call.ts'

/** A load generator of our own, for wires that `wrk` does not speak. It prints what `wrk.lua` prints. */
export class LoadLoop {
  readonly #latencies: number[] = []
  readonly #started = performance.now()
  readonly #until: number
  wrong = 0
  errors = 0

  constructor(seconds: number) {
    this.#until = this.#started + seconds * 1_000
  }

  get isOver(): boolean {
    return performance.now() >= this.#until
  }

  answered(sentAt: number, text: string): void {
    if (!text.includes(ECHO_TEXT)) this.wrong += 1
    this.#latencies.push(performance.now() - sentAt)
  }

  print(): void {
    const seconds = (performance.now() - this.#started) / 1_000
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const p50Ms = sorted.length === 0 ? 0 : median(sorted)
    const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0
    const { errors, wrong } = this
    process.stdout.write(`RESULT ${JSON.stringify({ calls: sorted.length, seconds, p50Ms, p99Ms, errors, wrong })}\n`)
  }
}

/** The call of the echo tool as a line or a frame. */
export const echoLine = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":${JSON.stringify(ECHO_TEXT)}}}}`
