import type { JsonValue } from '@parley/protocol'
import { JsonBounds, JsonRefused, entriesOf } from './json-limits.ts'

/**
 * JSON in one spelling, as RFC 8785 has it: members in the order of their UTF-16 code units, numbers as ECMAScript writes them (`-0`
 * is `0`), no space. Half of a surrogate pair stays escaped, so that no two strings become the same bytes. Throws `JsonRefused` for
 * what no JSON holds, and for an integer beyond 2^53 - 1: several of those are the same number here, and not to the server.
 */
export function canonicalJson(value: JsonValue): string {
  return written(value, 0, new JsonBounds())
}

function written(value: JsonValue, depth: number, bounds: JsonBounds): string {
  bounds.enter(depth)
  if (typeof value === 'number') return numberText(value)
  if (Array.isArray(value)) return `[${value.map((item) => written(item, depth + 1, bounds)).join(',')}]`
  if (typeof value !== 'object' || value === null) return scalarText(value)
  const members = entriesOf(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${written(member, depth + 1, bounds)}`)
  return `{${members.join(',')}}`
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new JsonRefused(`${value} is no number of JSON`)
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new JsonRefused('an integer beyond 2^53 - 1 cannot be told from its neighbours: send it as a string')
  return Object.is(value, -0) ? '0' : String(value)
}

function scalarText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  throw new JsonRefused(`${typeof value} is no value of JSON`)
}
