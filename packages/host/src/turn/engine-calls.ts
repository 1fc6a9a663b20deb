import type { GateCall, MountCall } from '@parley/agent'
import type { Caller } from '@parley/rpc'

/** Who calls for an engine of ours, in this process. */
export const ENGINE_CALLER: Caller = { key: 'engine' }

type Handed = Pick<GateCall, 'isAgain' | 'sending'>
type Named = Pick<MountCall<Caller>, 'caller' | 'engineCall'>

/**
 * Calls that an engine of ours has handed to the compositor, by the names that it gives them. The compositor decides about them, so it has to
 * have the engine write down that one is sent before it sends it.
 */
export class EngineCalls {
  readonly #handed = new Map<string, Handed>()

  began({ call, isAgain, sending }: GateCall): void {
    this.#handed.set(call, { isAgain, sending })
  }

  ended(call: string): void {
    this.#handed.delete(call)
  }

  /** Whether a host before this one had asked about it. */
  isAgain(call: Named): boolean {
    return this.#of(call)?.isAgain ?? false
  }

  /** Settles when it may be sent; `undefined` where no engine has to write it down. */
  sending(call: Named): Promise<void> | undefined {
    return this.#of(call)?.sending()
  }

  #of({ caller, engineCall }: Named): Handed | undefined {
    return caller.key === ENGINE_CALLER.key && engineCall !== undefined ? this.#handed.get(engineCall) : undefined
  }
}
