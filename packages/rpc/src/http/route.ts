import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../service.ts'

/** A plain HTTP request for everything that is not MCP: signing in, health, metrics, the page. */
export interface HttpRequest {
  readonly method: string
  /** Decoded path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /**
   * Reads the body, at most `limitBytes`; more is a 413 that the server answers by itself, and so is a 429 or 503 when too many
   * bytes are held. They count for `sender` where the route knows who that is, else for the address.
   */
  body(limitBytes: number, sender?: Caller): Promise<Buffer>
  /** Aborted when the exchange is over: the client has the whole answer, is gone, or there is a shutdown. */
  readonly signal: AbortSignal
}
export interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Pieces go out as they come, as fast as the client reads; when they throw, the connection is cut, so that nobody takes a part for the whole. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Aborted while pieces go out: the connection is cut, also under a client that does not read. No failure of ours. */
  readonly cut?: AbortSignal
}
/** Answers a request, or says with `undefined` that it is not its own. */
export type Route = (request: HttpRequest) => HttpReply | undefined | Promise<HttpReply | undefined>
