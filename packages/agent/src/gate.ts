import type { JsonObject, JsonValue } from '@parley/protocol'

/** A call about to be made, whatever it is: a mounted tool, or one of the engine's own (`mount` null). */
export interface GateCall {
  readonly conversation: string
  readonly call: string
  readonly mount: string | null
  readonly tool: string
  readonly arguments: JsonValue
  /** An earlier process ended before it was sent: whatever was said to it since then counts. */
  readonly isAgain: boolean
  /**
   * Settles when it is written down that the call is sent, and rejects where it must not be sent any more. Who allows a call that `isLater`
   * waits for it before anything is sent; for all others the engine does.
   */
  readonly sending: () => Promise<void>
}

/**
 * `allow` with `arguments`: a person changed them, the call is made with these and the model is told; with `said`, what that person says to the model. `isLater`: another gate stands behind
 * this one and decides. `deny` ends the turn where `endsTurn` says so; otherwise the model reads why and goes on.
 */
export type GateDecision =
  | { readonly kind: 'allow'; readonly arguments?: JsonObject; readonly said?: string; readonly isLater?: true }
  | { readonly kind: 'deny'; readonly reason: string; readonly endsTurn: boolean }
  | { readonly kind: 'ask'; readonly reason: string }

/** Every call of the loop passes here first, the engine's own tools included. A gate that throws denies. */
export interface Gate {
  decide(call: GateCall, signal: AbortSignal): GateDecision | Promise<GateDecision>
}
