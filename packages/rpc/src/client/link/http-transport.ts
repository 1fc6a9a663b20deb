import { WireError } from '@parley/fetch/browser'
import type { LookupFunction } from 'node:net'
import type { ByteShare } from '@parley/protocol/wire'
import { Pool } from 'undici'
import type { ClientLimits } from '../client-limits.ts'
import { HttpLink } from './http-link.ts'
import type { ClientTransport } from './client-link.ts'

export interface HttpTransportOptions {
  readonly url: string | URL
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as `Authorization: Bearer` with every request. */
  readonly token?: string
  /** The same, asked for with each request, for a token that is renewed. */
  readonly currentToken?: () => string
  /** Dials this socket file instead of the URL's host. */
  readonly socketPath?: string
  /** Finds the addresses of the URL's host each time a connection is made, where not every one may be dialled. Not asked for an address. */
  readonly lookup?: LookupFunction
  /** A share, for each answer, of the room for what has come of unfinished ones. Left out: `messageBytes` of each is the only bound. */
  readonly room?: () => ByteShare
}

/** Streamable HTTP, both eras. */
export function httpTransport(options: HttpTransportOptions): ClientTransport {
  const url = new URL(options.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WireError('unreachable', `url: must begin with http:// or https://, got ${url.protocol}`)
  }
  const { socketPath, lookup } = options
  const dialled = { url, ...(socketPath === undefined ? {} : { socketPath }) }
  return {
    kind: 'http',
    open: (sink, limits, warn) =>
      new HttpLink({
        pool: openPool(url, { socketPath, lookup }, limits),
        ...dialled,
        ...(options.room === undefined ? {} : { room: options.room }),
        headers: baseHeaders(options),
        ...(options.currentToken === undefined ? {} : { currentToken: options.currentToken }),
        sink,
        limits,
        warn,
      }),
  }
}

/** Answers to the server must never wait for a connection behind requests that wait for those answers. */
const SPARE_CONNECTIONS = 8

function openPool(
  url: URL,
  { socketPath, lookup }: { readonly socketPath: string | undefined; readonly lookup: LookupFunction | undefined },
  limits: ClientLimits,
): Pool {
  return new Pool(url.origin, {
    connections: limits.pendingRequests + limits.pendingAsks + SPARE_CONNECTIONS,
    // Deadlines are the connection's: undici's own would cut streams that are merely quiet.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(lookup === undefined ? {} : { connect: { lookup } }),
  })
}

function baseHeaders({ headers, token }: HttpTransportOptions): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) all[name.toLowerCase()] = value
  if (token !== undefined) all.authorization = `Bearer ${token}`
  return all
}
