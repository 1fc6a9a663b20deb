import { RPC_CODES, type RpcError } from '@parley/protocol'
import type { Call, ParkedCall } from '@parley/rpc'

/** A call under way whose client can be asked, and which of the questions on its behalf were denied. */
export class AskableCall {
  /** Aborted when nobody waits for the call any more, or a denied question ends it. */
  readonly until: AbortSignal
  readonly #ending = new AbortController()
  #denial: RpcError | undefined

  constructor(call: Pick<Call, 'signal'>, parked: ParkedCall | undefined) {
    this.until = AbortSignal.any([parked?.signal ?? call.signal, this.#ending.signal])
  }

  /** A question was not let through. */
  denied(denial: RpcError): void {
    // What ends the turn counts, whatever else was denied before or after it.
    if (this.#ending.signal.aborted) return
    this.#denial = denial
    if (endsTurn(denial)) this.#ending.abort(denial)
  }

  /** Why the call ended, where a denied question ended it. */
  get end(): RpcError | undefined {
    return this.#ending.signal.aborted ? this.#denial : undefined
  }

  /** The last denial that its server was told of, and may have passed on. */
  get denial(): RpcError | undefined {
    return this.#denial
  }
}

export const endsTurn = ({ code }: RpcError): boolean => code === RPC_CODES.policy_denied
