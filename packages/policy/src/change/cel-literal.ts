import type { JsonValue } from '@parley/protocol'
import { JsonBounds, entriesOf } from '../call/json-limits.ts'
import { quotedText } from '@parley/protocol/visible'

/** A value of JSON as CEL writes it. Numbers are doubles, as conditions see them. Throws `JsonRefused`. */
export const celLiteral = (value: JsonValue): string => literal(value, 0, new JsonBounds())

function literal(value: JsonValue, depth: number, bounds: JsonBounds): string {
  bounds.enter(depth)
  if (typeof value === 'string') return quotedText(value)
  if (typeof value === 'number') return doubleText(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => literal(item, depth + 1, bounds)).join(', ')}]`
  const members = entriesOf(value).map(([name, member]) => `${quotedText(name)}: ${literal(member, depth + 1, bounds)}`)
  return `{${members.join(', ')}}`
}

function doubleText(value: number): string {
  const text = Object.is(value, -0) ? '0' : String(value)
  return /^-?[0-9]+$/.test(text) ? `${text}.0` : text
}
