import type { Call } from '@parley/rpc'

type Cancellation = Call['cancellation']

/** A call at the server, or on its way there. */
interface Visit {
  readonly subject: string
  /** No other call may be there with it. */
  isAlone: boolean
  /** Something was asked while it was there. */
  wasAsked: boolean
}

interface Waiting {
  readonly visit: Visit
  readonly go: () => void
  timer: NodeJS.Timeout | undefined
}

/**
 * Which calls are at one time at a server of the legacy era on a pipe. It asks without saying for which call, so that a question can be passed on
 * only while one call is there. A call of a client that can be asked goes alone, unless the same was called before and nothing was asked;
 * all others go together. Nobody waits for long: a call that takes longer than `aloneMs` is joined by the next, and what is asked then is
 * answered by nobody.
 */
export class AskingTurns {
  readonly #limits: { readonly aloneMs: number; readonly quietSubjects: number }
  readonly #here = new Set<Visit>()
  readonly #waiting: Waiting[] = []
  /** What asked nothing the last time. */
  readonly #quiet = new Set<string>()

  constructor(limits: { readonly aloneMs: number; readonly quietSubjects: number }) {
    this.#limits = limits
  }

  /** Settles when the call may be sent; what it answers is to be called when that is over. Throws when it is cancelled before. */
  async enter(subject: string, canBeAsked: boolean, cancellation: Cancellation): Promise<() => void> {
    const visit: Visit = { subject, isAlone: canBeAsked && !this.#quiet.has(subject), wasAsked: false }
    if (this.#waiting.length === 0 && this.#mayGo(visit)) this.#here.add(visit)
    else await this.#turnOf(visit, cancellation)
    return () => this.#leave(visit)
  }

  /** The server asks something that only the client of a call can answer. */
  asked(): void {
    for (const visit of this.#here) {
      visit.wasAsked = true
      this.#quiet.delete(visit.subject)
    }
  }

  #mayGo({ isAlone }: Visit): boolean {
    if (this.#here.size === 0) return true
    return !isAlone && !this.#here.values().some((other) => other.isAlone)
  }

  async #turnOf(visit: Visit, cancellation: Cancellation): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { visit, go: resolve, timer: undefined }
    const cancelled = (): void => {
      const at = this.#waiting.indexOf(waiting)
      if (at < 0) return
      clearTimeout(waiting.timer)
      this.#waiting.splice(at, 1)
      this.#drain()
      reject(new Error('the call was cancelled before it was sent'))
    }
    this.#waiting.push(waiting)
    cancellation.addEventListener('abort', cancelled, { once: true })
    this.#drain()
    try {
      await promise
    } finally {
      cancellation.removeEventListener('abort', cancelled)
    }
  }

  #leave(visit: Visit): void {
    if (!this.#here.delete(visit)) return
    if (!visit.wasAsked && this.#quiet.size < this.#limits.quietSubjects) this.#quiet.add(visit.subject)
    this.#drain()
  }

  /** Lets in who may, in the order in which they came. */
  #drain(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (!this.#mayGo(first.visit)) {
        first.timer ??= setTimeout(() => this.#join(), this.#limits.aloneMs)
        return
      }
      clearTimeout(first.timer)
      this.#waiting.shift()
      this.#here.add(first.visit)
      first.go()
    }
  }

  /** The first of those that wait has waited long enough for the others. */
  #join(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    first.visit.isAlone = false
    for (const visit of this.#here) visit.isAlone = false
    this.#drain()
  }
}
