import type { JsonObject } from '@parley/protocol'
import type { Implementation } from '../service.ts'
import type { ClientLimits } from './client-limits.ts'
import type { CallOptions } from './connection.ts'
import type { ClientHandlers } from './ask/handlers.ts'
import type { ServerRequest } from './ask/inbound.ts'
import type { EraChoice } from './negotiate.ts'
import type { LinkEnd } from './link/client-link.ts'

export interface ClientOptions {
  readonly clientInfo: Implementation
  readonly capabilities?: JsonObject
  /** Default `auto`: asks in the modern way first. */
  readonly era?: EraChoice
  readonly handlers?: ClientHandlers
  /** Takes every question of a legacy server instead of `handlers`. For relays: nothing is filled in. */
  readonly onAsk?: (request: ServerRequest) => Promise<JsonObject>
  /** Notifications that belong to no request and no subscription; `during` is the request on whose stream one came. */
  readonly onNotification?: (method: string, params: JsonObject, during: number | undefined) => void
  readonly onClosed?: (end: LinkEnd) => void
  /** Something that does not stop the connection but should be seen. */
  readonly onWarning?: (message: string) => void
  readonly limits?: Partial<ClientLimits>
  /** Gives up connecting. */
  readonly signal?: AbortSignal
}

/** A single exchange of messages, questions not followed up. */
export interface ExchangeOptions extends Omit<CallOptions, 'headers'> {
  /** Modern era: speaks for somebody else in this request. For relays. */
  readonly onBehalfOf?: {
    readonly capabilities: JsonObject
    readonly info: Implementation | undefined
    /** What else goes into its `_meta`. */
    readonly stamp?: JsonObject | undefined
  }
  /** Modern era: what goes into `_meta` for the log messages of this request. */
  readonly logLevel?: string
}

export interface RequestOptions extends Omit<ExchangeOptions, 'signal'> {
  readonly signal?: AbortSignal | undefined
}
