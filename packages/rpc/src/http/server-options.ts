import type { Door } from '../door.ts'
import type { Limits } from '../limits.ts'
import type { Observer } from '../observer.ts'
import type { Caller } from '../service.ts'
import type { TunnelRoute } from '../tunnel/tunnel-endpoint.ts'
import type { Route } from './route.ts'

/** Where to listen: a port, or a socket file that only its owner may open. */
export type ListenAt =
  | { readonly host: string; readonly port: number; readonly tls?: { readonly cert: string; readonly key: string } }
  | { readonly socketPath: string }

export interface HttpServerOptions<C extends Caller> {
  readonly listen: ListenAt
  readonly door: Door<C>
  /** Where MCP is served. Default `/mcp` and `/api/mcp/ws`; without the second of them there is no WebSocket. */
  readonly paths?: { readonly http: string; readonly websocket?: string }
  /** Where tunnels are asked for; left out, there are none. */
  readonly tunnel?: TunnelRoute<C>
  /** Everything else, asked in order; the first that answers wins; none is a 404. */
  readonly routes?: readonly Route[]
  /** Host names (without port) besides loopback that `Host` and `Origin` may carry: against DNS rebinding. */
  readonly allowedHosts?: readonly string[]
  /** Addresses of proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies?: readonly string[]
  /** Whether `?token=` works on the WebSocket. Default true. */
  readonly queryToken?: boolean
  /** 32 bytes that seal `requestState`; the same on every gateway of an installation. */
  readonly stateKey: Uint8Array
  readonly limits?: Partial<Limits>
  readonly observer?: Observer<C>
  /** By which sessions grow idle, calls become streams and a `requestState` grows old. Default `Date.now`. */
  readonly now?: () => number
}

/** What a server holds for its clients at this moment. */
export interface ServerHolds {
  readonly connections: number
  /** Of bodies and messages that are on their way or being worked on. */
  readonly bodyBytes: number
  /** Of answers and streams that their readers have not taken. */
  readonly unreadBytes: number
  /** Of events that clients may come back for. */
  readonly replayBytes: number
}

export interface HttpServer<C extends Caller> {
  /** `http://127.0.0.1:7400`, with the port that was really taken. */
  readonly url: string
  readonly port: number
  /** Ends every session, socket and stream of the callers that match. Answers how many. */
  cut(matches: (caller: C) => boolean, reason: string): number
  /** Sessions, sockets and streams that are open. */
  links(): number
  holds(): ServerHolds
  /** Stops listening, ends streams cleanly, waits for calls under way at most so long, then closes all. */
  close(graceMs: number): Promise<void>
}
