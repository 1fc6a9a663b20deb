import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { NAMED_BY, valueAt } from '../../message/mirrored.ts'
import type { HeaderParam } from '../../service.ts'

/** What a tool's input schema asks to be repeated as headers, or why it may not ask so. */
export type Mirroring =
  | { readonly kind: 'valid'; readonly arguments: readonly HeaderParam[] }
  | { readonly kind: 'invalid'; readonly why: string }

const HEADER_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MIRRORED_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
const SCHEMA_DEPTH = 32

/** Reads `x-mcp-header` out of a schema. It may stand only where a path of plain properties leads. */
export function readMirroring(schema: JsonValue | undefined): Mirroring {
  const found: HeaderParam[] = []
  const names = new Set<string>()
  const problem = walk(schema, [], true, 0)
  return problem === undefined ? { kind: 'valid', arguments: found } : { kind: 'invalid', why: problem }

  function walk(node: JsonValue | undefined, path: readonly string[], reachable: boolean, depth: number): string | undefined {
    if (depth > SCHEMA_DEPTH) return undefined
    if (Array.isArray(node)) return first(node.map((each) => () => walk(each, path, false, depth + 1)))
    if (!isJsonObject(node)) return undefined
    if (node['x-mcp-header'] !== undefined) {
      const problem = claim(node, path, reachable)
      if (problem !== undefined) return problem
    }
    return first(
      Object.entries(node).map(([key, value]) => () => {
        if (key !== 'properties' || !isJsonObject(value)) return walk(value, path, false, depth + 1)
        return first(
          Object.entries(value).map(
            ([name, child]) =>
              () =>
                walk(child, [...path, name], reachable, depth + 1),
          ),
        )
      }),
    )
  }

  function claim(node: JsonObject, path: readonly string[], reachable: boolean): string | undefined {
    const header = node['x-mcp-header']
    const where = path.join('.')
    if (typeof header !== 'string' || !HEADER_TOKEN.test(header)) return `x-mcp-header of ${where} is not a header name`
    if (!reachable || path.length === 0) return `x-mcp-header "${header}" is not on a property that a plain path leads to`
    if (!MIRRORED_TYPES.includes(node.type))
      return `x-mcp-header "${header}" is on ${where}, which is not a string, integer or boolean`
    if (names.has(header.toLowerCase())) return `x-mcp-header "${header}" is used twice`
    names.add(header.toLowerCase())
    found.push({ path, header })
    return undefined
  }
}

function first(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check()
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The headers that a modern HTTP request repeats from its body. */
export function mirroredHeaders(method: string, params: JsonObject, mirrored: readonly HeaderParam[]): Record<string, string> {
  const headers: Record<string, string> = { 'mcp-method': method }
  const name = nameOf(method, params)
  if (typeof name === 'string') headers['mcp-name'] = headerValue(name)
  for (const { path, header } of mirrored) {
    const value = valueAt(params.arguments, path)
    if (typeof value === 'string') headers[`mcp-param-${header.toLowerCase()}`] = headerValue(value)
    else if (typeof value === 'number' || typeof value === 'boolean') headers[`mcp-param-${header.toLowerCase()}`] = String(value)
  }
  return headers
}

function nameOf(method: string, params: JsonObject): JsonValue | undefined {
  const field = NAMED_BY.get(method) ?? (method.startsWith('tasks/') ? 'taskId' : undefined)
  return field === undefined ? undefined : params[field]
}

const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/
const LOOKS_ENCODED = /^=\?base64\?.*\?=$/

/** A header can carry visible ASCII only; everything else, and what looks encoded already, goes as base64. */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && !LOOKS_ENCODED.test(text)) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}
