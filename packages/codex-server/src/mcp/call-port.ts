import type { JsonObject } from '@parley/protocol'
import type { Call, JsonText } from '@parley/rpc'

/** What a turn needs of the call that started it. */
export interface CallPort {
  /** As the client gave it. */
  readonly id: string | number
  /** Fires when the client has cancelled or gone away. */
  readonly signal: AbortSignal
  /** Whether the client said that it can be asked. */
  readonly canBeAsked: boolean
  /** Whether it makes sense to ask one that did not say so. */
  readonly mayBeAskedAnyway: boolean
  /** False: not taken; wait for `drained`. */
  notify(method: string, params: JsonText): boolean
  drained(): Promise<void>
  /** Nobody will read anything any more. */
  readonly isGone: boolean
  progress(progress: number, message: string): void
  ask(params: JsonObject, options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<JsonObject>
}

export const ASK = 'elicitation/create'

/** A call of a client that opened with `initialize`: questions are requests of ours. */
export function legacyPort(call: Call): CallPort {
  const { link } = call
  return {
    id: call.id,
    signal: call.signal,
    canBeAsked: call.client.capabilities['elicitation'] !== undefined,
    mayBeAskedAnyway: true,
    notify: (method, params) => call.notify(method, params),
    drained: () => call.drained(),
    get isGone() {
      return link?.signal.aborted ?? false
    },
    progress: (progress, message) => call.progress(progress, undefined, message),
    ask: (params, options) => call.ask(ASK, params, options),
  }
}
