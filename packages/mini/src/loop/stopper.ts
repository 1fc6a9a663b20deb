import { setMaxListeners } from 'node:events'
import type { TurnEnd } from '@parley/agent'
import { asError, CallCancelled } from '@parley/protocol/wire'

/** What a wait came to. `stopped`: it was not waited for any longer. */
export type Waited<Value> = { readonly kind: 'settled'; readonly value: Value } | { readonly kind: 'stopped' }

/** Ends one turn from outside: the first reason counts, everything that runs is told, and nothing is waited for long. */
export class Stopper {
  readonly #controller = new AbortController()
  readonly #graceMs: number
  /** Who stops waiting at once, and who does when the moment of grace is over. */
  readonly #impatient = new Set<() => void>()
  readonly #patient = new Set<() => void>()
  #end: TurnEnd | undefined
  #graceIsOver = false
  #isLeaving = false
  #timer: NodeJS.Timeout | undefined

  constructor(graceMs: number) {
    this.#graceMs = graceMs
    // Every call of an answer listens, and what it runs too.
    setMaxListeners(0, this.#controller.signal)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }
  /** How the turn ends; `undefined` while it may go on. */
  get end(): TurnEnd | undefined {
    return this.#end
  }

  /** True: another process goes on with the turn. What was never sent stays open for it. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /** Ends the turn here, for another process to go on with it. */
  leave(): void {
    this.#isLeaving = this.#end === undefined
    this.stop({ kind: 'interrupted' })
  }

  stop(end: TurnEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#timer = setTimeout(() => {
      this.#graceIsOver = true
      for (const giveUp of this.#patient) giveUp()
    }, this.#graceMs)
    // Whoever decides about a call that waits hears that it is not wanted any more.
    this.#controller.abort(new CallCancelled('the turn was stopped'))
    for (const giveUp of this.#impatient) giveUp()
  }

  /** Waits for something that heeds the signal: after a stop it has a moment to end, then it is abandoned. */
  wait<Value>(work: Promise<Value>): Promise<Waited<Value>> {
    return waitUntil(work, this.#patient, this.#graceIsOver)
  }

  /** Waits for an answer that is worth nothing after a stop. */
  waitUnlessStopped<Value>(work: Promise<Value>): Promise<Waited<Value>> {
    return waitUntil(work, this.#impatient, this.#end !== undefined)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

function waitUntil<Value>(work: Promise<Value>, waiting: Set<() => void>, isOver: boolean): Promise<Waited<Value>> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve({ kind: 'stopped' })
    if (isOver) giveUp()
    else waiting.add(giveUp)
    work.then(
      (value) => {
        waiting.delete(giveUp)
        resolve({ kind: 'settled', value })
      },
      (error: unknown) => {
        waiting.delete(giveUp)
        reject(asError(error))
      },
    )
  })
}
