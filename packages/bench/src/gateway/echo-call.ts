import type { SplitRequest } from '../measure/wrk.ts'

/** What every target is asked to echo, and must answer. */
export const ECHO_TEXT = 'the quick brown fox jumps over the lazy dog and runs away from the hunter 0123456789'

/** Where a target's MCP endpoint is, and how it wants to be spoken to. */
export interface Endpoint {
  readonly url: string
  readonly token?: string
  readonly era: 'legacy' | 'modern'
}

const LEGACY = '2025-06-18'
const MODERN = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The same call for each session, ready to be sent byte for byte. */
export async function echoRequests(endpoint: Endpoint, sessions: number): Promise<readonly SplitRequest[]> {
  if (endpoint.era === 'modern') {
    const params = { name: 'echo', arguments: { text: ECHO_TEXT }, _meta: META }
    return [split(endpoint, { ...modernHeaders('tools/call'), 'Mcp-Name': 'echo' }, params)]
  }
  const ids = await Promise.all(Array.from({ length: sessions }, () => openSession(endpoint)))
  return ids.map((id) =>
    split(
      endpoint,
      { 'MCP-Protocol-Version': LEGACY, ...(id === undefined ? {} : { 'Mcp-Session-Id': id }) },
      { name: 'echo', arguments: { text: ECHO_TEXT } },
    ),
  )
}

function modernHeaders(method: string): Record<string, string> {
  return { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method }
}

function split(endpoint: Endpoint, extra: Readonly<Record<string, string>>, params: object): SplitRequest {
  const url = new URL(endpoint.url)
  const [before, after] = JSON.stringify({ jsonrpc: '2.0', id: 999_999_999, method: 'tools/call', params }).split('999999999')
  if (before === undefined || after === undefined) throw new Error('the id must occur once')
  const headers = {
    Host: url.host,
    ...commonHeaders(endpoint),
    ...extra,
    'Content-Length': String(Buffer.byteLength(before + after) + 9),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return { head: `POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n${before}`, tail: after }
}

function commonHeaders(endpoint: Endpoint): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(endpoint.token === undefined ? {} : { Authorization: `Bearer ${endpoint.token}` }),
  }
}

async function openSession(endpoint: Endpoint): Promise<string | undefined> {
  const clientInfo = { name: 'bench', version: '1.0.0' }
  const opened = await post(
    endpoint,
    {},
    { id: 1, method: 'initialize', params: { protocolVersion: LEGACY, capabilities: {}, clientInfo } },
  )
  const id = opened.headers.get('mcp-session-id') ?? undefined
  if (!opened.ok) throw new Error(`initialize answered ${opened.status}: ${await opened.text()}`)
  await opened.text()
  const headers = { 'MCP-Protocol-Version': LEGACY, ...(id === undefined ? {} : { 'Mcp-Session-Id': id }) }
  const ready = await post(endpoint, headers, { method: 'notifications/initialized' })
  await ready.text()
  return id
}

function post(endpoint: Endpoint, headers: Readonly<Record<string, string>>, message: object): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return fetch(endpoint.url, { method: 'POST', headers: { ...commonHeaders(endpoint), ...headers }, body })
}
