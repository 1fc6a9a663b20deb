import type { IncomingMessage } from 'node:http'
import { isJsonObject, type JsonObject, type JsonValue, RpcError } from '@parley/protocol'
import { NAMED_BY, valueAt } from '../message/mirrored.ts'
import { META } from '../revision.ts'
import type { HeaderParam } from '../service.ts'
import { headerOf } from './request-check.ts'

/** How a number may be written in a header: a router must read it as we do, so not `0x2a` or `4.2e1`. */
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** How much is told back of what the body says: it may be as long as a message. */
const BODY_SHOWN_CHARS = 1_024

const BASE64_OPEN = '=?base64?'
const BASE64_CLOSE = '?='

/** Modern requests say in headers what they say in the body, for routers. We serve the body, so the two must agree. */
export function checkMirroredHeaders(request: IncomingMessage, method: string, params: JsonObject): void {
  const meta = params['_meta']
  mustEqual(
    'MCP-Protocol-Version',
    headerOf(request, 'mcp-protocol-version'),
    isJsonObject(meta) ? meta[META.protocolVersion] : undefined,
  )
  mustEqual('Mcp-Method', headerOf(request, 'mcp-method'), method)
  const field = NAMED_BY.get(method)
  if (field !== undefined && typeof params[field] === 'string') {
    mustEqual('Mcp-Name', decodeHeader('Mcp-Name', headerOf(request, 'mcp-name')), params[field])
  }
}

/** The arguments that a tool's schema marks with `x-mcp-header`. */
export function checkParamHeaders(
  request: IncomingMessage,
  toolArguments: JsonValue | undefined,
  headerParams: readonly HeaderParam[],
): void {
  for (const { path, header } of headerParams) {
    const name = `Mcp-Param-${header}`
    const value = valueAt(toolArguments, path)
    if (value === undefined || value === null) continue
    const sent = decodeHeader(name, headerOf(request, name.toLowerCase()))
    const same =
      typeof value === 'number'
        ? sent !== undefined && DECIMAL.test(sent) && Number(sent) === value
        : sent === (typeof value === 'string' ? value : JSON.stringify(value))
    if (!same) throw mismatch(name, sent, JSON.stringify(value))
  }
}

function mustEqual(name: string, header: string | undefined, body: JsonValue | undefined): void {
  if (header !== body) throw mismatch(name, header, typeof body === 'string' ? body : 'nothing')
}

function mismatch(name: string, header: string | undefined, body: string): RpcError {
  const words = header === undefined ? `${name} is missing` : `${name} says something else than the body`
  return new RpcError('header_mismatch', `Header mismatch: ${words}`, {
    mismatch: { header: header ?? null, body: body.slice(0, BODY_SHOWN_CHARS) },
  })
}

/** Plain, or `=?base64?…?=` for what a header cannot carry. */
function decodeHeader(name: string, value: string | undefined): string | undefined {
  if (value === undefined || !value.startsWith(BASE64_OPEN) || !value.endsWith(BASE64_CLOSE)) return value
  const encoded = value.slice(BASE64_OPEN.length, -BASE64_CLOSE.length)
  const bytes = Buffer.from(encoded, 'base64')
  const text = bytes.toString('utf8')
  if (bytes.toString('base64') !== encoded || Buffer.from(text, 'utf8').compare(bytes) !== 0) {
    throw new RpcError('header_mismatch', `Header mismatch: ${name} is not valid base64 of UTF-8`)
  }
  return text
}
