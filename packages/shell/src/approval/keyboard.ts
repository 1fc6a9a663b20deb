import type { Io } from '@parley/command-line'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

/**
 * Keys of a terminal, each as it is pressed. One that nobody waits for is dropped, never kept: it was meant for what stood there then.
 * `q` and Ctrl-D end it at any time, and so does the end of the input; Ctrl-C and signals interrupt it.
 */
export class Keyboard implements Disposable {
  readonly #stdin: NodeJS.ReadStream
  readonly #over = new AbortController()
  readonly #ignore: () => void
  #waiting: PromiseWithResolvers<string> | undefined
  isInterrupted = false

  constructor({ stdin, onSignal }: Pick<Io, 'stdin' | 'onSignal'>) {
    this.#stdin = stdin
    this.#ignore = onSignal(() => this.#interrupt())
    stdin.setRawMode(true)
    stdin.on('data', this.#take)
    stdin.on('end', this.end)
    stdin.resume()
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** The next key. Asked twice it is the same one. */
  next(): Promise<string> {
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  /** Nobody waits for a key any more. */
  forget(): void {
    this.#waiting = undefined
  }

  readonly end = (): void => this.#over.abort()

  #interrupt(): void {
    this.isInterrupted = true
    this.end()
  }

  readonly #take = (chunk: Buffer | string): void => {
    const typed = chunk.toString()
    if (typed.includes(CTRL_C)) return this.#interrupt()
    if (typed === 'q' || typed === 'Q' || typed.includes(CTRL_D)) return this.end()
    // Several at once are pasted, or one that sends a whole sequence: neither is an answer.
    if (typed.length !== 1) return
    this.#waiting?.resolve(typed)
    this.forget()
  };

  [Symbol.dispose](): void {
    this.#ignore()
    this.#stdin.off('data', this.#take)
    this.#stdin.off('end', this.end)
    this.#stdin.setRawMode(false)
    this.#stdin.pause()
  }
}
