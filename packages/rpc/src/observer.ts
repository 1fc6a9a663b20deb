import type { Wire } from './door.ts'
import type { Era } from './revision.ts'
import type { Caller, Link } from './service.ts'

/** One request answered, for metrics, logs and audit. */
export interface Served<C extends Caller = Caller> {
  readonly wire: Wire
  readonly era: Era
  readonly caller: C
  readonly method: string
  /** The JSON-RPC error code, or undefined when there was a result. */
  readonly errorCode: number | undefined
  readonly ms: number
}

/** Sees what passes. Called on the hot path: no waiting, no throwing. */
export interface Observer<C extends Caller = Caller> {
  opened?(link: Link<C>, wire: Wire): void
  closed?(link: Link<C>, wire: Wire, reason: string): void
  served?(event: Served<C>): void
  /** Somebody was refused before any message was read. */
  denied?(event: { readonly wire: Wire; readonly status: number; readonly code: string; readonly remoteAddress: string }): void
  /** A message that could not be served at all: unparsable, too large, too deep. */
  malformed?(event: { readonly wire: Wire; readonly code: number; readonly remoteAddress: string }): void
  /** A handler threw something that is neither `RpcError` nor `ToolError`: our own fault, with the stack for the log. */
  failed?(event: { readonly wire: Wire; readonly method: string; readonly error: unknown }): void
}
