import type { IncomingMessage } from 'node:http'
import type { Headers } from './answer.ts'

const EXPOSED = 'Mcp-Session-Id, WWW-Authenticate, Retry-After'
const ALLOWED = 'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name'
const PARAM_HEADER = /^mcp-param-[\w!#$%&'*+.^`|~-]+$/i

/** For pages of an allowed origin; whoever sends no `Origin` needs none of it. The origin has been checked before. */
export function corsHeaders(request: IncomingMessage): Headers | undefined {
  const { origin } = request.headers
  if (origin === undefined) return undefined
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' }
}

export function preflightHeaders(request: IncomingMessage): Headers {
  return {
    ...corsHeaders(request),
    'access-control-allow-methods': 'POST, GET, DELETE',
    'access-control-allow-headers': [ALLOWED, ...paramHeaders(request)].join(', '),
    'access-control-max-age': '600',
  }
}

/** Which arguments are repeated in headers is known to the tools alone, so what the page asks for is what it may send. */
function paramHeaders(request: IncomingMessage): string[] {
  const asked = request.headers['access-control-request-headers'] ?? ''
  return asked.split(',').flatMap((name) => (PARAM_HEADER.test(name.trim()) ? [name.trim()] : []))
}
