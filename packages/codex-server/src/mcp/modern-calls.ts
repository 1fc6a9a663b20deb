import { isJsonObject, type JsonObject } from '@parley/protocol'
import type { Call, ParkedCall, ParkedCalls, ServiceResult } from '@parley/rpc'
import type { CallPort } from './call-port.ts'
import { ParkedPort } from './parked-port.ts'

/** Calls of clients of the modern era: their turns go on while the client fetches the answer to a question. */
export class ModernCalls {
  readonly #limit: number
  readonly #parkedMs: number
  readonly #ports = new WeakMap<ParkedCall, ParkedPort>()
  #calls: ParkedCalls | undefined

  constructor(limit: number, parkedMs: number) {
    this.#limit = limit
    this.#parkedMs = parkedMs
  }

  async call(call: Call, run: (port: CallPort) => Promise<JsonObject>): Promise<ServiceResult> {
    const calls = await this.#open()
    const parked = this.#continued(calls, call) ?? this.#started(calls, call, run)
    const port = this.#ports.get(parked)
    const result = await calls.next(parked.id, call)
    // Either it is over, or the client has to come back.
    port?.detach()
    return result
  }

  #started(calls: ParkedCalls, call: Call, run: (port: CallPort) => Promise<JsonObject>): ParkedCall {
    return calls.start(call.caller.key, (parked) => {
      const port = new ParkedPort(parked, call)
      this.#ports.set(parked, port)
      return run(port)
    })
  }

  #continued(calls: ParkedCalls, call: Call): ParkedCall | undefined {
    if (!isJsonObject(call.state) || typeof call.state['parked'] !== 'string') return undefined
    const parked = calls.find(call.state['parked'], call.caller.key)
    this.#ports.get(parked)?.attach(call)
    return parked
  }

  async #open(): Promise<ParkedCalls> {
    if (this.#calls === undefined) {
      const { ParkedCalls } = await import('@parley/rpc')
      this.#calls ??= new ParkedCalls(this.#limit, this.#parkedMs)
    }
    return this.#calls
  }
}
