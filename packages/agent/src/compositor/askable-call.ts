import { RPC_CODES, type RpcError } from '@parley/protocol'
import type { Call } from '@parley/rpc'

/** A call under way whose client can be asked, and which of the questions on its behalf were denied. */
export class AskableCall {
  readonly #until = new AbortController()
  #denial: RpcError | undefined
  #isEnded = false

  /** `given` ends it besides. */
  constructor(given: Call['cancellation']) {
    const giveUp = (): void => this.#until.abort(given.reason)
    if (given.aborted) giveUp()
    else given.addEventListener('abort', giveUp, { once: true })
  }

  /** Aborted when the call is given up, or a denied question ends it. */
  get until(): AbortSignal {
    return this.#until.signal
  }

  /** A question was not let through. */
  denied(denial: RpcError): void {
    // What ends the turn counts, whatever else was denied before or after it.
    if (this.#isEnded) return
    this.#denial = denial
    if (!endsTurn(denial)) return
    this.#isEnded = true
    this.#until.abort(denial)
  }

  /** Why the call ended, where a denied question ended it. */
  get end(): RpcError | undefined {
    return this.#isEnded ? this.#denial : undefined
  }

  /** The last denial that its server was told of, and may have passed on. */
  get denial(): RpcError | undefined {
    return this.#denial
  }
}

export const endsTurn = ({ code }: RpcError): boolean => code === RPC_CODES.policy_denied
