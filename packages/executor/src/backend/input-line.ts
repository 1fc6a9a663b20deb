import type { Writable } from 'node:stream'
import type { WriteStatus } from '../process/exec-process.ts'

/** Input that waits in the stream for a process that does not read it. Beyond it a write waits until there is room. */
const UNREAD_STDIN_BYTES = 1024 * 1024

/** Made once: a write to a process that reads is as cheap as one to its pipe. */
const ACCEPTED: Promise<WriteStatus> = Promise.resolve('accepted')
const STDIN_CLOSED: Promise<WriteStatus> = Promise.resolve('stdinClosed')

/**
 * Hands input to a process, one write after the other. Where the process does not read, a write waits for room before it is
 * handed to the stream, which takes any amount, and is answered when there is room again after it: whoever counts what is not
 * answered yet counts all but the little that waits in the stream.
 */
export class InputLine {
  readonly #stdin: Writable
  readonly #isExited: () => boolean
  #last: Promise<unknown> = ACCEPTED
  #waiting = 0
  #isEnding = false

  constructor(stdin: Writable, isExited: () => boolean) {
    this.#stdin = stdin
    this.#isExited = isExited
  }

  write(input: Buffer | string): Promise<WriteStatus> {
    if (this.#isEnding || this.#isClosed()) return STDIN_CLOSED
    if (this.#waiting > 0) return this.#inLine(this.#last.then(() => this.#put(input)))
    const status = this.#put(input)
    return status === ACCEPTED ? status : this.#inLine(status)
  }

  /** No more will be written; what waits still is. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (this.#waiting === 0) this.#stdin.end()
    else void this.#last.then(() => this.#stdin.end())
  }

  #put(input: Buffer | string): Promise<WriteStatus> {
    if (this.#isClosed()) return STDIN_CLOSED
    this.#stdin.write(input)
    return this.#stdin.writableLength > UNREAD_STDIN_BYTES ? roomIn(this.#stdin) : ACCEPTED
  }

  #inLine(turn: Promise<WriteStatus>): Promise<WriteStatus> {
    this.#waiting += 1
    const done = turn.finally(() => (this.#waiting -= 1))
    this.#last = done
    return done
  }

  #isClosed(): boolean {
    return this.#stdin.destroyed || this.#stdin.writableEnded || this.#isExited()
  }
}

function roomIn(stream: Writable): Promise<WriteStatus> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve('accepted')
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}
