import { asError } from '@parley/protocol'
import type { ExecProcess } from '../process/exec-process.ts'
import { failureOf } from './stdin-failure.ts'

interface Waiting {
  readonly text: string
  readonly failed: (error: Error) => void
}

/** Writes messages one write after the other. Those of one turn of the event loop go out together: the write is what costs. */
export class SerialWriter {
  readonly #process: ExecProcess
  #waiting: Waiting[] = []
  #waitingChars = 0
  #isScheduled = false
  #isOver = false

  constructor(process: ExecProcess) {
    this.#process = process
  }

  get bufferedBytes(): number {
    return this.#waitingChars
  }

  send(text: string, failed: (error: Error) => void): void {
    if (this.#isOver) return
    this.#waiting.push({ text, failed })
    this.#waitingChars += text.length
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => void this.#flush())
  }

  /** Writes what waits, then nothing more. */
  async end(): Promise<void> {
    if (!this.#isScheduled && this.#waiting.length > 0) await this.#flush()
    this.#isOver = true
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      const [only] = batch
      const text = batch.length === 1 && only !== undefined ? `${only.text}\n` : batch.map((each) => `${each.text}\n`).join('')
      let error: Error | undefined
      try {
        error = failureOf(await this.#process.write(text))
      } catch (thrown) {
        error = asError(thrown)
      }
      this.#waitingChars -= text.length - batch.length
      if (error !== undefined) for (const { failed } of batch) failed(error)
    }
    this.#isScheduled = false
  }
}
