import type { Io } from '@parley/command-line'
import { BRACKETS_OFF, BRACKETS_ON, PasteReader } from './paste.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

interface Keys extends Pick<Io, 'err' | 'onSignal'> {
  readonly stdin: NodeJS.ReadableStream & { setRawMode(isRaw: boolean): unknown }
}

/**
 * Keys of a terminal, each as it is pressed. One that nobody waits for is dropped, never kept: it was meant for what stood there then.
 * What is pasted is no key. `q` and Ctrl-D end it at any time, and so does the end of the input; Ctrl-C and signals interrupt it.
 */
export class Keyboard implements Disposable {
  readonly #stdin: Keys['stdin']
  readonly #err: Keys['err']
  readonly #pastes = new PasteReader()
  readonly #over = new AbortController()
  readonly #ignore: () => void
  #waiting: PromiseWithResolvers<string> | undefined
  isInterrupted = false

  constructor({ stdin, err, onSignal }: Keys) {
    this.#stdin = stdin
    this.#err = err
    this.#ignore = onSignal(() => this.#interrupt())
    stdin.setRawMode(true)
    err(BRACKETS_ON)
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
    const { text: typed, isPasted } = this.#pastes.take(chunk)
    // Both also in a paste, whose end may never come.
    if (typed.includes(CTRL_C)) return this.#interrupt()
    if (typed.includes(CTRL_D)) return this.end()
    if (isPasted) return
    if (typed === 'q' || typed === 'Q') return this.end()
    // Several at once, or one that sends a whole sequence, are no answer.
    if (typed.length !== 1) return
    this.#waiting?.resolve(typed)
    this.forget()
  };

  [Symbol.dispose](): void {
    this.#ignore()
    this.#stdin.off('data', this.#take)
    this.#stdin.off('end', this.end)
    this.#err(BRACKETS_OFF)
    this.#stdin.setRawMode(false)
    this.#stdin.pause()
  }
}
