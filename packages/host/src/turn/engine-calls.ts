import type { GateCall, MountCall, MountDecision } from '@parley/agent'
import type { Caller } from '@parley/rpc'

/** Who calls for an engine of ours, in this process. */
export const ENGINE_CALLER: Caller = { key: 'engine' }

/** Whether an engine of ours calls, and no client or command of the agent. */
export const isEngine = ({ key }: Caller): boolean => key === ENGINE_CALLER.key

type Handed = Pick<GateCall, 'isAgain' | 'sending'>
type Named = Pick<MountCall<Caller>, 'caller' | 'engineCall'>

/**
 * Calls that an engine of ours has handed to the compositor, by the names that it gives them. The compositor decides about them, so it has to
 * have the engine write down that one is sent before it sends it.
 */
export class EngineCalls {
  readonly #handed = new Map<string, Handed>()
  /** Ends the turn that is being taken. An engine hears of a denial as of any failed call, and would go on. */
  endTurn: ((reason: string) => void) | undefined

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

  /**
   * What was decided about a call of some caller: where the engine is denied one for good, its turn is over. A subscription that is taken up in
   * its name is none of its calls, and one in the background is part of no turn.
   */
  decided(
    { caller, unattended, background }: Pick<MountCall<Caller>, 'caller' | 'unattended' | 'background'>,
    decision: MountDecision,
  ): void {
    if (isEngine(caller) && unattended !== true && background !== true && decision.kind === 'deny' && decision.endsTurn)
      this.endTurn?.(decision.reason)
  }

  #of({ caller, engineCall }: Named): Handed | undefined {
    return isEngine(caller) && engineCall !== undefined ? this.#handed.get(engineCall) : undefined
  }
}
