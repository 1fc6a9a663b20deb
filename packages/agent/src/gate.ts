import type { JsonValue } from '@parley/protocol'

/** A call about to be made, whatever it is: a mounted tool, or one of the engine's own (`mount` null). */
export interface GateCall {
  readonly conversation: string
  readonly call: string
  readonly mount: string | null
  readonly tool: string
  readonly arguments: JsonValue
}

/** `deny` ends the turn where `endsTurn` says so; otherwise the model reads why and goes on. */
export type GateDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string; readonly endsTurn: boolean }
  | { readonly kind: 'ask'; readonly reason: string }

/** Every call of the loop passes here first, the engine's own tools included. A gate that throws denies. */
export interface Gate {
  decide(call: GateCall, signal: AbortSignal): GateDecision | Promise<GateDecision>
}
