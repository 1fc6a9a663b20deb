import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

/** What every strict mode that we know understands. Some understand more; a tool that is sent loose without need only loses the provider's check. */
const KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
  'definitions',
  'description',
  'title',
])
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'])

/** The tightest of the providers' own bounds. */
const DEPTH = 5
const PROPERTIES = 100
const ENUM_VALUES = 250
const NAME_CHARS = 15_000

/** Whether a provider's strict mode would take the schema of a tool's arguments. When in doubt it would not. */
export function fitsStrict(schema: JsonObject): boolean {
  if (schema['type'] !== 'object' || schema['anyOf'] !== undefined) return false
  const sums: Sums = { properties: 0, values: 0, chars: 0, root: schema }
  if (!fits(schema, 1, sums)) return false
  return sums.properties <= PROPERTIES && sums.values <= ENUM_VALUES && sums.chars <= NAME_CHARS
}

interface Sums {
  properties: number
  values: number
  chars: number
  readonly root: JsonObject
}

function fits(schema: JsonValue | undefined, depth: number, sums: Sums): boolean {
  if (!isJsonObject(schema) || depth > DEPTH) return false
  if (!Object.keys(schema).every((key) => KEYWORDS.has(key))) return false
  if (schema['$ref'] !== undefined) return fitsRef(schema, sums)
  return (
    fitsTypes(schema) &&
    fitsObject(schema, depth, sums) &&
    fitsArray(schema, depth, sums) &&
    fitsValues(schema, sums) &&
    fitsAnyOf(schema, depth, sums) &&
    [schema['$defs'], schema['definitions']].every((defs) => fitsAll(defs, depth, sums))
  )
}

/** A reference stands alone, and what it names is there. */
function fitsRef(schema: JsonObject, { root }: Sums): boolean {
  const ref = typeof schema['$ref'] === 'string' ? schema['$ref'] : ''
  const [, holder, name] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(ref) ?? []
  const defs = holder === undefined ? undefined : root[holder]
  return (
    Object.keys(schema).every((key) => key === '$ref' || key === 'description') &&
    isJsonObject(defs) &&
    isJsonObject(defs[name ?? ''])
  )
}

function fitsTypes(schema: JsonObject): boolean {
  const { type } = schema
  if (type === undefined) return schema['anyOf'] !== undefined || schema['enum'] !== undefined || schema['const'] !== undefined
  const types = Array.isArray(type) ? type : [type]
  return types.length > 0 && types.every((one) => typeof one === 'string' && TYPES.has(one))
}

const hasType = ({ type }: JsonObject, wanted: string): boolean =>
  type === wanted || (Array.isArray(type) && type.includes(wanted))

function fitsObject(schema: JsonObject, depth: number, sums: Sums): boolean {
  if (!hasType(schema, 'object')) return schema['properties'] === undefined && schema['required'] === undefined
  const { properties, required } = schema
  if (schema['additionalProperties'] !== false || !isJsonObject(properties)) return false
  const names = Object.keys(properties)
  sums.properties += names.length
  sums.chars += names.join('').length
  const wanted = Array.isArray(required) ? required : []
  const isComplete = wanted.length === names.length && names.every((name) => wanted.includes(name))
  return isComplete && fitsAll(properties, depth + 1, sums)
}

function fitsArray(schema: JsonObject, depth: number, sums: Sums): boolean {
  if (!hasType(schema, 'array')) return schema['items'] === undefined
  return fits(schema['items'], depth + 1, sums)
}

function fitsValues(schema: JsonObject, sums: Sums): boolean {
  const values = schema['enum'] === undefined ? [] : schema['enum']
  if (!Array.isArray(values) || (schema['enum'] !== undefined && values.length === 0)) return false
  sums.values += values.length
  sums.chars += values.reduce<number>((chars, value) => chars + (typeof value === 'string' ? value.length : 0), 0)
  return values.every((value) => value === null || typeof value !== 'object')
}

function fitsAnyOf({ anyOf }: JsonObject, depth: number, sums: Sums): boolean {
  if (anyOf === undefined) return true
  return Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every((one) => fits(one, depth, sums))
}

function fitsAll(schemas: JsonValue | undefined, depth: number, sums: Sums): boolean {
  if (schemas === undefined) return true
  return isJsonObject(schemas) && Object.values(schemas).every((schema) => fits(schema, depth, sums))
}
