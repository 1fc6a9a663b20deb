import type { JsonObject } from '@parley/protocol'
import type { Call, JsonText, ParkedCall } from '@parley/rpc'
import { ASK, type CallPort } from './call-port.ts'

/**
 * A call of a client of the modern era, which is asked by an answer and comes back with another call. The turn goes on
 * meanwhile; what it tells between two rounds waits for the next.
 */
export class ParkedPort implements CallPort {
  readonly #parked: ParkedCall
  #call: Call
  #isAttached = true
  #room = Promise.withResolvers<void>()

  constructor(parked: ParkedCall, call: Call) {
    this.#parked = parked
    this.#call = call
    parked.signal.addEventListener('abort', () => this.#room.resolve(), { once: true })
  }

  attach(call: Call): void {
    this.#call = call
    this.#isAttached = true
    this.#room.resolve()
    this.#room = Promise.withResolvers()
  }
  /** The client has been answered and is on its own. */
  detach(): void {
    this.#isAttached = false
  }

  get id(): string | number {
    return this.#call.id
  }
  get signal(): AbortSignal {
    return this.#parked.signal
  }
  get canBeAsked(): boolean {
    return this.#call.client.capabilities['elicitation'] !== undefined
  }
  readonly mayBeAskedAnyway = false

  notify(method: string, params: JsonText): boolean {
    return this.#isAttached && this.#call.notify(method, params)
  }
  drained(): Promise<void> {
    return this.#isAttached ? this.#call.drained() : this.#room.promise
  }
  get isGone(): boolean {
    return this.#parked.signal.aborted
  }
  progress(progress: number, message: string): void {
    if (this.#isAttached) this.#call.progress(progress, undefined, message)
  }
  ask(params: JsonObject, { signal }: { readonly signal: AbortSignal }): Promise<JsonObject> {
    return this.#parked.ask({ method: ASK, params, during: undefined, signal })
  }
}
