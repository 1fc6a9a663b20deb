import type { IncomingMessage } from 'node:http'
import { headerOf } from './request-check.ts'

const SUBPROTOCOL_TOKEN = 'bearer.'

/** Where a WebSocket's token may stand: the header, the list of subprotocols (browsers), or the query. */
export function authorizationOf(request: IncomingMessage, query: URLSearchParams, queryToken: boolean): string | undefined {
  const header = headerOf(request, 'authorization')
  if (header !== undefined) return header
  const offered =
    headerOf(request, 'sec-websocket-protocol')
      ?.split(',')
      .map((name) => name.trim()) ?? []
  const inProtocol = offered.find((name) => name.startsWith(SUBPROTOCOL_TOKEN))
  if (inProtocol !== undefined) return `Bearer ${inProtocol.slice(SUBPROTOCOL_TOKEN.length)}`
  const inQuery = queryToken ? (query.get('token') ?? query.get('access_token')) : null
  return inQuery === null ? undefined : `Bearer ${inQuery}`
}
