import { type JsonObject, isJsonObject } from '@parley/protocol'

/** A request that the real service refuses, in its words. */
export interface Violation {
  readonly message: string
  readonly param: string | null
  readonly code: string | null
}

export const violation = (message: string, param: string | null = null, code: string | null = null): Violation => ({
  message,
  param,
  code,
})

/** A value in words. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'))

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** A function as either wire declares it, with where it stands. */
export interface DeclaredFunction {
  readonly at: string
  readonly declared: JsonObject
}

export function checkFunctions(functions: readonly DeclaredFunction[]): Violation | undefined {
  const seen = new Set<string>()
  for (const { at, declared } of functions) {
    const name = declared['name']
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
      const words = `Invalid '${at}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
      return violation(words, `${at}.name`, 'invalid_value')
    }
    if (seen.has(name)) return violation(`Function names must be unique, but '${name}' is there twice.`, `${at}.name`)
    seen.add(name)
    if (!isJsonObject(declared['parameters']) || declared['parameters']['type'] !== 'object')
      return refusedSchema(name, at, `schema must be a JSON Schema of 'type: "object"'.`)
    const fault = declared['strict'] === true ? strictFault(declared['parameters'], []) : undefined
    if (fault !== undefined) return refusedSchema(name, at, fault)
  }
  return undefined
}

const refusedSchema = (name: string, at: string, fault: string): Violation =>
  violation(`Invalid schema for function '${name}': ${fault}`, `${at}.parameters`, 'invalid_function_parameters')

const NOT_IN_STRICT = ['allOf', 'oneOf', 'not', 'if', 'then', 'else', 'patternProperties', 'dependentRequired', 'default']

/** What the strict mode finds wrong with a schema: every object closed, every property required, no clever keywords. */
export function strictFault(schema: JsonObject, path: readonly string[]): string | undefined {
  const context = `In context=(${path.map((part) => `'${part}'`).join(', ')})`
  const banned = NOT_IN_STRICT.find((keyword) => keyword in schema)
  if (banned !== undefined) return `${context}, '${banned}' is not permitted.`
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : undefined
  if (schema['type'] === 'object' || properties !== undefined) {
    if (schema['additionalProperties'] !== false)
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const missing = Object.keys(properties ?? {}).find((name) => !required.includes(name))
    if (missing !== undefined)
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
  }
  for (const [name, inner] of Object.entries(properties ?? {})) {
    const fault = isJsonObject(inner) ? strictFault(inner, [...path, 'properties', name]) : undefined
    if (fault !== undefined) return fault
  }
  return isJsonObject(schema['items']) ? strictFault(schema['items'], [...path, 'items']) : undefined
}
