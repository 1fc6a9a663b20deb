import type { JsonObject } from '@parley/protocol'
import type { Client } from '@parley/rpc/browser'
import type { Clock } from './clock.ts'
import type { LinkWord } from './link-word.ts'
import type { Patience } from './patience.ts'
import type { SteadyLimits } from './steady-limits.ts'

/** Opens a connection. What the gateway says unasked goes to `heard`; the signal says that nobody waits any more. */
export type Connect = (heard: (method: string, params: JsonObject) => void, signal: AbortSignal) => Promise<Client>

export interface SteadyOptions {
  readonly connect: Connect
  readonly patience: Patience
  readonly random: () => number
  readonly clock: Clock
  /** Hears what there is to tell about the connection. */
  readonly tell: (word: LinkWord) => void
  readonly limits?: Partial<SteadyLimits>
  /**
   * Finds out what was behind a failure, where the wire does not say: a browser does not tell why a socket was refused. The signal says
   * that nobody wants to know any more.
   */
  readonly explain?: (why: Error, signal: AbortSignal) => Promise<Error>
  /** Asks whether anybody is there, where the wire does not do so itself: a browser cannot ping. */
  readonly ping?: { readonly everyMs: number; readonly limitMs: number }
}

/** Who wants to hear of a connection and what comes over it. */
export interface LinkListener {
  /** A connection is there: the first one, or another after a loss. What was asked of the one before is forgotten. */
  connected?(connection: Client): void
  /** There is none, and it is sure that another is tried for. */
  lost?(): void
  /** There will be none any more. */
  ended?(why: Error): void
  /** The gateway said something unasked. */
  notified?(method: string, params: JsonObject): void
}

export interface OnceOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

export interface SteadyCallOptions extends OnceOptions {
  /** Called before the call is sent again, when nobody can know whether the first one arrived. */
  readonly onRetry?: () => void
}
