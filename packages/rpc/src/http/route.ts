import type { IncomingHttpHeaders } from 'node:http'

/** A plain HTTP request for everything that is not MCP: signing in, health, metrics, the page. */
export interface HttpRequest {
  readonly method: string
  /** Decoded path without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /** Reads the body, at most `limitBytes`; more is a 413 that the server answers by itself. */
  body(limitBytes: number): Promise<Buffer>
}
export interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}
/** Answers a request, or says with `undefined` that it is not its own. */
export type Route = (request: HttpRequest) => HttpReply | undefined | Promise<HttpReply | undefined>
