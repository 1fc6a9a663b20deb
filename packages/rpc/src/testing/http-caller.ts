import type { JsonObject } from '@parley/protocol'
import { type Dispatcher, request } from 'undici'
import { META } from '../revision.ts'

export interface Reply {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly text: string
  /** The JSON body, or the messages of an event stream. */
  readonly messages: readonly JsonObject[]
}

const ACCEPT = 'application/json, text/event-stream'

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return send(url, 'POST', typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body), headers)
}

export async function send(
  url: string,
  method: 'POST' | 'GET' | 'DELETE' | 'PUT',
  body: string | Buffer | null,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const all = { 'content-type': 'application/json', accept: ACCEPT, authorization: 'Bearer me', ...headers }
  // An empty value leaves the header out.
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  const answer = await request(url, { method, body, headers: sent })
  const text = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, text, messages: messagesOf(text, answer.headers['content-type']) }
}

export function rpc(id: string | number, method: string, params?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }
}

export function initializeParams(protocolVersion = '2025-11-25', capabilities: JsonObject = {}): JsonObject {
  return { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } }
}

/** Opens a legacy session and answers the headers that belong to it. */
export async function openSession(url: string, protocolVersion = '2025-11-25', capabilities: JsonObject = {}, token = 'me') {
  const authorization = `Bearer ${token}`
  const reply = await post(url, rpc(0, 'initialize', initializeParams(protocolVersion, capabilities)), { authorization })
  const headers = { authorization, 'mcp-session-id': String(reply.headers['mcp-session-id']) }
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return { headers, reply }
}

/** A modern request, in body and headers. */
export function modern(id: string | number, method: string, params: JsonObject = {}, capabilities: JsonObject = {}) {
  const name = params['name'] ?? params['uri']
  const headers: Record<string, string> = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }
  if (typeof name === 'string') headers['mcp-name'] = name
  const _meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: capabilities }
  return { body: rpc(id, method, { ...params, _meta }), headers }
}

export function postModern(
  url: string,
  id: string | number,
  method: string,
  params: JsonObject = {},
  capabilities: JsonObject = {},
) {
  const { body, headers } = modern(id, method, params, capabilities)
  return post(url, body, headers)
}

function messagesOf(text: string, contentType: string | string[] | undefined): JsonObject[] {
  if (text === '') return []
  if (String(contentType).startsWith('text/event-stream')) {
    return [...text.matchAll(/^data: (.+)$/gm)].map((match): JsonObject => JSON.parse(match[1] ?? ''))
  }
  const value: JsonObject | JsonObject[] = JSON.parse(text)
  return Array.isArray(value) ? value : [value]
}
