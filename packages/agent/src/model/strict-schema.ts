import { type JsonObject, isJsonObject } from '@parley/protocol'

/** What strict modes are known to take. Anything else is asked for without it. */
const KEYWORDS = new Set([
  '$schema',
  '$defs',
  '$ref',
  'definitions',
  'title',
  'description',
  'type',
  'enum',
  'const',
  'anyOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'pattern',
  'format',
])
const DEPTH_MAX = 10
const PROPERTIES_MAX = 5_000

/** Whether a schema fits the strict mode: an object at the top, every object closed, every property required. */
export function fitsStrict(schema: JsonObject): boolean {
  const seen = { properties: 0 }
  return schema['type'] === 'object' && fits(schema, 0, seen) && seen.properties <= PROPERTIES_MAX
}

function fits(schema: unknown, depth: number, seen: { properties: number }): boolean {
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return false
  if (Object.keys(schema).some((keyword) => !KEYWORDS.has(keyword))) return false
  const properties = schema['properties']
  if (schema['type'] === 'object' || properties !== undefined) {
    const names = isJsonObject(properties) ? Object.keys(properties) : []
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    if (schema['additionalProperties'] !== false || names.some((name) => !required.includes(name))) return false
    seen.properties += names.length
  }
  const inner = [properties, schema['$defs'], schema['definitions']].flatMap((map) =>
    isJsonObject(map) ? Object.values(map) : [],
  )
  const choices = Array.isArray(schema['anyOf']) ? schema['anyOf'] : []
  const items = schema['items'] === undefined ? [] : [schema['items']]
  return [...inner, ...choices, ...items].every((one) => fits(one, depth + 1, seen))
}
