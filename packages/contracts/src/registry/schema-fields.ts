import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

/** One field of a schema, in a few words. */
export interface SchemaField {
  /** `items[].data.text`; a branch of a choice is told by its fixed field: `sandboxPolicy(mode=read-only)`. */
  readonly field: string
  readonly type: string
  readonly required: boolean
}

/** Schemas are trees that we wrote; nothing deeper is a contract. */
const DEPTH_MAX = 24

/** Every field of a schema, parents before children. */
export function schemaFields(schema: JsonValue | undefined): readonly SchemaField[] {
  const found: SchemaField[] = []
  walk(schema, '', true, DEPTH_MAX, found)
  return found
}

function walk(schema: JsonValue | undefined, field: string, required: boolean, depth: number, found: SchemaField[]): void {
  if (!isJsonObject(schema) || depth === 0) return
  if (field !== '') found.push({ field, type: typeText(schema), required })
  const needed = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
  for (const [name, property] of properties)
    walk(property, field === '' ? name : `${field}.${name}`, needed.includes(name), depth - 1, found)
  walkInside(schema['items'], `${field}[]`, depth, found)
  walkInside(schema['additionalProperties'], `${field}.*`, depth, found)
  for (const branch of branchesOf(schema)) {
    if (!isJsonObject(branch) || !isJsonObject(branch['properties'])) continue
    walk({ ...branch, type: 'object' }, `${field}(${labelOf(branch)})`, true, depth - 1, found)
  }
}

/** What is inside of a list or a map is told with its fields; a plain type is in the words of the list already. */
function walkInside(schema: JsonValue | undefined, field: string, depth: number, found: SchemaField[]): void {
  if (!isJsonObject(schema)) return
  const inner: SchemaField[] = []
  walk(schema, field, true, depth - 1, inner)
  found.push(...inner.slice(1))
}

const branchesOf = (schema: JsonObject): readonly JsonValue[] =>
  [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []))

function labelOf(branch: JsonObject): string {
  const properties = isJsonObject(branch['properties']) ? Object.entries(branch['properties']) : []
  for (const [name, property] of properties) {
    if (!isJsonObject(property)) continue
    const { const: fixed, enum: words } = property
    const only = fixed ?? (Array.isArray(words) && words.length === 1 ? words[0] : undefined)
    if (typeof only === 'string') return `${name}=${only}`
  }
  return properties.map(([name]) => name).join('+')
}

/** A schema in a few words: `string`, `"a" | "b"`, `list of string`. */
export function typeText(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return schema === false ? 'nothing' : 'any'
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  const branches = branchesOf(schema)
  if (branches.length > 0) return [...new Set(branches.map(typeText))].join(' | ')
  const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type'] ?? 'any']
  return types.map((type) => wordFor(type, schema)).join(' | ')
}

function wordFor(type: JsonValue, schema: JsonObject): string {
  if (type === 'array') return schema['items'] === undefined ? 'list' : `list of ${typeText(schema['items'])}`
  const { pattern, minLength } = schema
  if (type === 'string' && typeof pattern === 'string' && pattern.includes('{8}-')) return 'UUID'
  if (type === 'string' && typeof pattern === 'string') return `string like ${pattern}`
  if (type === 'string' && typeof minLength === 'number' && minLength > 0) return 'string, not empty'
  return typeof type === 'string' ? type : JSON.stringify(type)
}
