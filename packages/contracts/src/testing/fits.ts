import { Ajv, type ValidateFunction } from 'ajv'
import type { JsonValue } from '@parley/protocol'
import type { JsonSchema } from '../registry/registry-types.ts'

const ajv = new Ajv()
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

export function fits(schema: JsonSchema, value: JsonValue | undefined): boolean {
  return validatorOf(schema)(value)
}

/** What does not fit, with where it was found. */
export function misfits(schema: JsonSchema, value: JsonValue | undefined, where: string): readonly string[] {
  const validate = validatorOf(schema)
  if (validate(value)) return []
  const [first] = validate.errors ?? []
  return [`${where}: ${first?.instancePath ?? ''} ${first?.message ?? ''} ${JSON.stringify(first?.params)}`]
}

function validatorOf(schema: JsonSchema): ValidateFunction {
  const known = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, known)
  return known
}
