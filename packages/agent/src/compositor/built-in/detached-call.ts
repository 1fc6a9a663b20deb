import { RpcError } from '@parley/protocol'
import { type Call, type Caller, LATEST_LEGACY } from '@parley/rpc'

/** A call for which nobody waits on any wire: nothing of it is told while it goes on, and nobody can be asked by it. */
export function detachedCall<C extends Caller>(caller: C, signal: AbortSignal): Call<C> {
  return {
    id: 0,
    era: 'legacy',
    revision: LATEST_LEGACY,
    caller,
    client: { info: undefined, capabilities: {} },
    link: undefined,
    meta: {},
    signal,
    cancellation: signal,
    answers: undefined,
    state: undefined,
    notify: () => false,
    drained: () => Promise.resolve(),
    held: () => undefined,
    goesOn: () => undefined,
    progress: () => undefined,
    log: () => undefined,
    ask: () => Promise.reject(new RpcError('internal_error', 'nobody can be asked by a call in the background')),
    dropStream: () => undefined,
  }
}
