import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'

/** As how many bytes a character may be written: `\\u0041`. */
const BYTES_OF_CHARACTER = 6
/** A number, a date, a word that a pattern holds to a few characters, and what stands around a value. */
const SHORT_CHARS = 256
const AROUND_CHARS = 8
/** Repeats without an end make a pattern no bound. */
const ENDLESS = /[*+]|,\}/

/** The most bytes that arguments of this schema can take; infinite where it bounds something in them not at all. */
export function inputBytes(schema: JsonObject): number {
  return charsOf(schema) * BYTES_OF_CHARACTER
}

function charsOf(schema: JsonValue | undefined): number {
  if (!isJsonObject(schema)) return Number.POSITIVE_INFINITY
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return Math.max(...choices.map(charsOf))
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return JSON.stringify(schema).length
  const { type } = schema
  if (type === 'string') return charsOfString(schema)
  if (type === 'array') return bound(schema['maxItems']) * (charsOf(schema['items']) + AROUND_CHARS)
  if (type === 'object') return charsOfObject(schema)
  return typeof type === 'string' && SHORT_TYPES.has(type) ? SHORT_CHARS : Number.POSITIVE_INFINITY
}
const SHORT_TYPES: ReadonlySet<string> = new Set(['number', 'integer', 'boolean', 'null'])

function charsOfString({ maxLength, format, pattern }: JsonObject): number {
  if (typeof maxLength === 'number') return maxLength
  const isShort = format === 'date-time' || (typeof pattern === 'string' && !ENDLESS.test(pattern))
  return isShort ? SHORT_CHARS : Number.POSITIVE_INFINITY
}

function charsOfObject({ properties, additionalProperties }: JsonObject): number {
  const isClosed = additionalProperties === false || additionalProperties === undefined
  let chars = isClosed ? AROUND_CHARS : Number.POSITIVE_INFINITY
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
    chars += name.length + AROUND_CHARS + charsOf(schema)
  return chars
}

const bound = (limit: JsonValue | undefined): number => (typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY)
