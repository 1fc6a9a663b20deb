import { type JsonObject, type JsonValue, RPC_CODES, RpcError } from '@parley/protocol'
import { errorText, resultText } from '../../message/text.ts'

/** A request of the server to us. */
export interface ServerRequest {
  readonly method: string
  readonly params: JsonObject
  /** The request of ours on whose stream it came, where the link can tell. */
  readonly during: number | undefined
  /** Aborted when the server takes it back or the connection ends. */
  readonly signal: AbortSignal
}

/** Answers what the server asks, a bounded number at a time. */
export class Inbound {
  readonly #running = new Map<JsonValue, AbortController>()
  readonly #limit: number
  readonly #answer: (request: ServerRequest) => Promise<JsonObject>
  readonly #send: (text: string) => void

  constructor(limit: number, answer: (request: ServerRequest) => Promise<JsonObject>, send: (text: string) => void) {
    this.#limit = limit
    this.#answer = answer
    this.#send = send
  }

  take(id: JsonValue, method: string, params: JsonObject, during: number | undefined): void {
    if (method === 'ping') return this.#send(resultText(id, {}))
    if (this.#running.size >= this.#limit) {
      return this.#send(errorText(id, RPC_CODES.overloaded, `at most ${this.#limit} requests are answered at a time`))
    }
    const controller = new AbortController()
    this.#running.set(id, controller)
    this.#answer({ method, params, during, signal: controller.signal })
      .then(
        (result) => resultText(id, result),
        (error: unknown) => refusalText(id, error),
      )
      .then((text) => {
        this.#running.delete(id)
        // A request that was taken back gets no answer.
        if (!controller.signal.aborted) this.#send(text)
      })
      .catch(() => this.#running.delete(id))
  }

  cancel(id: JsonValue): boolean {
    const controller = this.#running.get(id)
    if (controller === undefined) return false
    this.#running.delete(id)
    controller.abort()
    return true
  }

  abortAll(): void {
    for (const id of [...this.#running.keys()]) this.cancel(id)
  }
}

function refusalText(id: JsonValue, error: unknown): string {
  if (error instanceof RpcError) return errorText(id, error.code, error.message, error.data)
  return errorText(id, RPC_CODES.internal_error, error instanceof Error ? error.message : 'internal error')
}
