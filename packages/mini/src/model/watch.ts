import { secondsText } from '@parley/agent'
import type { ModelLimits } from './model-limits.ts'

/** A timer beyond this would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Watches over one request: its own signal fires when the caller gives up, when nothing is said in time, or when it takes too long. */
export class RequestWatch {
  readonly #outer: AbortSignal
  readonly #stop = new AbortController()
  readonly #limits: ModelLimits
  readonly #now: () => number
  readonly #giveUp = (): void => this.#stop.abort()
  #timer: NodeJS.Timeout | undefined
  #lingers = false
  firstTokenAt: number | undefined
  /** Which of our own bounds ended it, in words. */
  timedOut: string | undefined

  constructor(outer: AbortSignal, limits: ModelLimits, now: () => number) {
    this.#outer = outer
    this.#limits = limits
    this.#now = now
    if (outer.aborted) this.#stop.abort()
    else outer.addEventListener('abort', this.#giveUp, { once: true })
    const first = Math.min(limits.firstTokenMs, limits.answerMs)
    this.#expireAfter(first, () => this.#firstIsDue(first))
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get isAborted(): boolean {
    return this.#outer.aborted && this.timedOut === undefined
  }

  /** The model has said something: from here on only the whole answer is timed; silence is the connection's to notice. */
  begun(): void {
    this.firstTokenAt ??= this.#now()
  }

  giveUp(): void {
    this.#stop.abort()
  }

  /** Reads what is left of a stream in passing, for a moment. */
  linger(rest: AsyncIterator<unknown>): void {
    this.#lingers = true
    const timer = setTimeout(this.#giveUp, this.#limits.lingerMs)
    timer.unref()
    void drain(rest).finally(() => clearTimeout(timer))
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#outer.removeEventListener('abort', this.#giveUp)
    // Whatever is still open after the last word goes; what lingers ends by itself.
    if (!this.#lingers) this.#stop.abort()
  }

  /** The one timer of a request. Most answers are over before it fires, so nobody sets it anew when the answer begins. */
  #expireAfter(ms: number, next: () => void): void {
    this.#timer = setTimeout(next, Math.min(ms, TIMER_MS_MAX))
  }

  #firstIsDue(ms: number): void {
    if (this.firstTokenAt === undefined)
      return this.#expire(`the model did not begin to answer within ${secondsText(this.#limits.firstTokenMs)}`)
    const late = (): void => this.#expire(`the answer was not whole within ${secondsText(this.#limits.answerMs)}`)
    if (ms < this.#limits.answerMs) this.#expireAfter(this.#limits.answerMs - ms, late)
    else late()
  }

  #expire(words: string): void {
    this.timedOut = words
    this.#stop.abort()
  }
}

async function drain(rest: AsyncIterator<unknown>): Promise<void> {
  try {
    while ((await rest.next()).done !== true);
  } catch {
    // The answer was whole before this: a failure of the connection after it changes nothing.
  }
}
