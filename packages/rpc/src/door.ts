import type { Era } from './revision.ts'
import type { Caller, Service } from './service.ts'

/** What carries the messages of a client. */
export type Wire = 'http' | 'websocket' | 'stdio' | 'memory'

/** What a client showed us before any message: enough to say who it is. */
export interface Credentials {
  /** The `Authorization` header as it came, or made from the WebSocket's query or subprotocol. */
  readonly authorization: string | undefined
  readonly remoteAddress: string
  /** The `Host` header: the name under which the client reached us. */
  readonly host?: string | undefined
  readonly wire: Wire
}

type DeniedStatus = 400 | 401 | 403 | 404 | 429 | 503 | 504

/** Refuses a client before any message is read. Becomes an HTTP status with a JSON body, or a closed socket. */
export class Denied extends Error {
  readonly status: DeniedStatus
  readonly code: string
  readonly retryAfterSeconds: number | undefined
  constructor(status: DeniedStatus, code: string, message: string, retryAfterSeconds?: number) {
    super(message)
    this.name = 'Denied'
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Why everything ends when the server goes: the one reason for which a client may come back in a moment. */
export const SHUTDOWN_REASON = 'the server is restarting'

/** Refuses whoever comes while the server goes. */
export function restarting(): Denied {
  return new Denied(503, 'unavailable', SHUTDOWN_REASON, 1)
}

/** Decides who comes in and what they find there. */
export interface Door<C extends Caller = Caller> {
  /** Says who is calling, or throws `Denied`. Called for every HTTP request, so it must be cheap the second time. */
  authenticate(credentials: Credentials): C | Promise<C>
  /**
   * Asked once more when a body has come in whole, and before each message of a socket: whoever was let in with these
   * credentials may not be any more. Left out: `authenticate`.
   */
  again?(credentials: Credentials): C | Promise<C>
  /** The server that this caller sees. The same object for the same kind of caller: it is asked for every request. */
  serviceFor(caller: C): Service<C>
}

/** What a caller finds behind the door in the era that they speak. */
export function serviceIn<C extends Caller>(door: Door<C>, caller: C, era: Era): Service<C> {
  const service = door.serviceFor(caller)
  return service.forEra?.(era) ?? service
}
