import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import * as z from 'zod'

/** Keywords that some strict mode refuses; what they bound is said in the description and checked when the call comes. */
const UNSAID = new Set([
  '$schema',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
  'format',
  'default',
])

/** The JSON Schema of an own tool's arguments, in the words that every strict mode takes. */
export function parametersOf(input: z.ZodObject): JsonObject {
  const schema = parseJson(JSON.stringify(z.toJSONSchema(input)))
  const pruned = schema === undefined ? undefined : prune(schema)
  if (!isJsonObject(pruned)) throw new TypeError('a schema of arguments must be an object')
  return pruned
}

function prune(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(prune)
  if (!isJsonObject(schema)) return schema
  const kept = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] => {
    if (UNSAID.has(key) || value === undefined) return []
    if (key === 'properties' && isJsonObject(value)) return [[key, mapValues(value, prune)]]
    return [[key, prune(value)]]
  })
  return Object.fromEntries(kept)
}

/** Names of properties are no keywords: a property called `format` stays. */
function mapValues(object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).flatMap(([key, value]) => (value === undefined ? [] : [[key, change(value)]])))
}
