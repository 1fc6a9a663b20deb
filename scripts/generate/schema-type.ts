import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

/** The formatter breaks lines that are longer. */
const LINE_CHARACTERS = 130
/** Schemas are trees that we wrote; nothing deeper is a contract. */
const DEPTH_MAX = 24

/** TypeScript made from JSON Schemas: an interface for each object, in the form that the formatter leaves as it is. */
export class TypeWriter {
  readonly #blocks: string[] = []
  readonly #names = new Set<string>()

  /** Declares a type of that name for a schema; types inside of it are named after their place. */
  declare(name: string, schema: JsonValue | undefined, doc: string): void {
    const head = doc === '' ? '' : `/** ${doc} */\n`
    const own = this.#unique(name)
    const at = this.#blocks.length
    const text = isPlainObject(schema)
      ? this.#interface(own, schema, DEPTH_MAX)
      : `export type ${own} =${broken(`export type ${own} =`, this.#parts(own, schema, DEPTH_MAX), '  ')}`
    // What is inside was declared meanwhile and stands after what it belongs to.
    this.#blocks.splice(at, 0, `${head}${text}`)
  }

  get names(): readonly string[] {
    return [...this.#names].toSorted()
  }

  /** Lines of the source, in blocks that belong together. */
  get blocks(): readonly string[] {
    return this.#blocks
  }

  #unique(name: string): string {
    let own = name
    for (let number = 2; this.#names.has(own); number++) own = `${name}${number}`
    this.#names.add(own)
    return own
  }

  #interface(name: string, schema: JsonObject, depth: number): string {
    const needed = Array.isArray(schema['required']) ? schema['required'] : []
    const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
    const lines = properties.map(([key, property]) => {
      const start = `  readonly ${quotedKey(key)}${needed.includes(key) ? '' : '?'}:`
      return `${start}${broken(start, this.#parts(`${name}${wordOf(key)}`, property, depth - 1), '    ')}`
    })
    return lines.length === 0
      ? `export type ${name} = Readonly<Record<string, never>>`
      : `export interface ${name} {\n${lines.join('\n')}\n}`
  }

  /** The members of a union. */
  #parts(name: string, schema: JsonValue | undefined, depth: number): readonly string[] {
    if (!isJsonObject(schema) || depth === 0) return [schema === false ? 'never' : 'unknown']
    if (schema['const'] !== undefined) return [literal(schema['const'])]
    if (Array.isArray(schema['enum'])) return schema['enum'].map(literal)
    const branches = [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []))
    if (branches.length > 0) {
      // Where only one of them is an object, it needs no name that tells it from the others.
      const isAlone = branches.filter((branch) => labelOf(branch) !== '').length === 1
      const all = branches.flatMap((branch) => this.#parts(isAlone ? name : `${name}${labelOf(branch)}`, branch, depth - 1))
      return [...new Set(all)]
    }
    const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type'] ?? 'any']
    return types.map((type) => this.#single(name, type, schema, depth))
  }

  #single(name: string, type: JsonValue, schema: JsonObject, depth: number): string {
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    if (type === 'number' || type === 'integer') return 'number'
    if (type === 'array') {
      const items = this.#one(`${name}Item`, schema['items'], depth - 1)
      return `readonly ${items}[]`
    }
    if (type !== 'object') return 'unknown'
    if (isPlainObject(schema)) {
      const own = this.#unique(name)
      const at = this.#blocks.length
      this.#blocks.splice(at, 0, this.#interface(own, schema, depth - 1))
      return own
    }
    const values = schema['additionalProperties']
    if (values === false) return 'Readonly<Record<string, never>>'
    return `Readonly<Record<string, ${isJsonObject(values) ? this.#one(`${name}Value`, values, depth - 1) : 'unknown'}>>`
  }

  /** One name for what is inside of a list or a map: a union gets one of its own. */
  #one(name: string, schema: JsonValue | undefined, depth: number): string {
    const at = this.#blocks.length
    const parts = this.#parts(name, schema, depth)
    if (parts.length === 1) return parts[0] ?? 'unknown'
    const own = this.#unique(name)
    this.#blocks.splice(at, 0, `export type ${own} =${broken(`export type ${own} =`, parts, '  ')}`)
    return own
  }
}

function isPlainObject(schema: JsonValue | undefined): schema is JsonObject {
  if (!isJsonObject(schema) || schema['anyOf'] !== undefined || schema['oneOf'] !== undefined) return false
  return schema['type'] === 'object' && isJsonObject(schema['properties']) && Object.keys(schema['properties']).length > 0
}

/** A union on one line if it fits, else one member a line. */
function broken(start: string, parts: readonly string[], indent: string): string {
  const line = ` ${parts.join(' | ')}`
  if (start.length + line.length <= LINE_CHARACTERS || parts.length === 1) return line
  return `\n${parts.map((part) => `${indent}| ${part}`).join('\n')}`
}

function labelOf(branch: JsonValue): string {
  const properties = isJsonObject(branch) && isJsonObject(branch['properties']) ? Object.entries(branch['properties']) : []
  for (const [, property] of properties) {
    if (!isJsonObject(property)) continue
    const { const: fixed, enum: words } = property
    const only = fixed ?? (Array.isArray(words) && words.length === 1 ? words[0] : undefined)
    if (typeof only === 'string') return wordOf(only)
  }
  return properties.length === 0 ? '' : wordOf(properties[0]?.[0] ?? '')
}

/** `file_changes` and `danger-full-access` as parts of a name. */
export const wordOf = (text: string): string =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

const quotedKey = (key: string): string => (/^[a-zA-Z_$][\w$]*$/.test(key) ? key : `'${key}'`)

const literal = (value: JsonValue): string =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)
