import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { fitsStrict } from '../../model/strict-schema.ts'
import { TOOL_BOUNDS } from '../bounds.ts'

/** A mounted tool's schema as the model gets to see it. */
export interface MountedSchema {
  readonly parameters: JsonObject
  readonly strict: boolean
  /** Why the server's own schema was not used. */
  readonly replaced: string | null
}

/** Takes any object: the server checks what comes. */
const ANYTHING: JsonObject = { type: 'object', properties: {}, additionalProperties: true }
/** They say something about the schema and nothing about arguments; some providers stumble over them. */
const ABOUT = new Set(['$schema', '$id', '$comment'])

/** Keeps a server's schema where a provider can take it, and stands in for it where not. */
export function mountedSchema(given: JsonValue | undefined): MountedSchema {
  const why = whyNot(given)
  if (why !== null || !isJsonObject(given)) return { parameters: ANYTHING, strict: false, replaced: why ?? 'it is no object' }
  const kept = Object.fromEntries(Object.entries(given).filter(([key]) => !ABOUT.has(key)))
  // Providers want the properties written out, also where there are none.
  const parameters: JsonObject = isJsonObject(kept['properties']) ? kept : { ...kept, properties: {} }
  return { parameters, strict: fitsStrict(parameters), replaced: null }
}

function whyNot(given: JsonValue | undefined): string | null {
  if (!isJsonObject(given)) return 'it is no object'
  if (given['type'] !== 'object') return 'it does not describe an object'
  const depth = depthOf(given, TOOL_BOUNDS.schemaDepth + 1)
  if (depth > TOOL_BOUNDS.schemaDepth) return `it is nested more than ${TOOL_BOUNDS.schemaDepth} levels deep`
  const size = Buffer.byteLength(JSON.stringify(given))
  if (size > TOOL_BOUNDS.schemaBytes) return `it has ${size} bytes, ${TOOL_BOUNDS.schemaBytes} at most`
  return hasForeignRef(given) ? 'it refers to another document' : null
}

function depthOf(value: JsonValue | undefined, most: number): number {
  if (typeof value !== 'object' || value === null || most <= 0) return 0
  return 1 + Object.values(value).reduce<number>((deepest, inner) => Math.max(deepest, depthOf(inner, most - 1)), 0)
}

const REFS = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

function hasForeignRef(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, inner]) => (REFS.has(key) && typeof inner === 'string' && !inner.startsWith('#')) || hasForeignRef(inner),
  )
}
