import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { JsonSchema } from './registry-types.ts'

const ajv = new Ajv({ allErrors: true, strict: false })
/** Schemas belong to the registry, which keeps them: an object is compiled once. */
const compiled = new WeakMap<JsonSchema, ValidateFunction>()

/** One place where a value does not fit its schema. */
export interface Misfit {
  /** The field as people write it: `items[0].data.text`; empty for the value itself. */
  readonly field: string
  readonly message: string
}

/** How many are told; one wrong shape can fail in hundreds of places. */
const MISFITS_MAX = 8

/** Everything about the value that its schema does not allow. */
export function misfits(schema: JsonSchema, value: unknown): readonly Misfit[] {
  let validate = compiled.get(schema)
  if (validate === undefined) {
    validate = ajv.compile(schema)
    compiled.set(schema, validate)
  }
  if (validate(value)) return []
  return told(branchesMeant(validate.errors ?? [])).slice(0, MISFITS_MAX)
}

/** Each branch of a choice complains for itself. Those whose fixed field has another value were not meant. */
function branchesMeant(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const branchOf = ({ schemaPath }: ErrorObject): string => /^.*\/(?:anyOf|oneOf)\/\d+/.exec(schemaPath)?.[0] ?? ''
  const isFixed = ({ keyword, params }: ErrorObject): boolean => {
    const allowed: unknown = Reflect.get(params, 'allowedValues')
    return keyword === 'const' || (keyword === 'enum' && Array.isArray(allowed) && allowed.length === 1)
  }
  const notMeant = new Set(errors.filter((error) => branchOf(error) !== '' && isFixed(error)).map(branchOf))
  const meant = errors.filter((error) => !notMeant.has(branchOf(error)) && !/^(anyOf|oneOf|if)$/.test(error.keyword))
  return meant.length > 0 ? meant : errors.filter(({ keyword }) => !/^(anyOf|oneOf|if)$/.test(keyword))
}

/** One for each field, where types that would do are told together. */
function told(errors: readonly ErrorObject[]): readonly Misfit[] {
  const found = new Map<string, Set<string>>()
  for (const { field, message } of errors.map(misfitOf)) found.set(field, (found.get(field) ?? new Set()).add(message))
  return [...found].map(([field, messages]) => {
    const types = [...messages].filter((message) => TYPE_MESSAGE.test(message)).map((message) => message.slice('must be '.length))
    const others = [...messages].filter((message) => !TYPE_MESSAGE.test(message))
    const texts = types.length === 0 ? others : [...others, `must be ${types.join(' or ')}`]
    return { field, message: texts.join(', ') }
  })
}

const TYPE_MESSAGE = /^must be (string|number|integer|boolean|object|array|null)$/

function misfitOf({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): Misfit {
  const at = fieldOf(instancePath)
  const text = (name: string): string => String(Reflect.get(params, name))
  if (keyword === 'required') return { field: joined(at, text('missingProperty')), message: 'is missing' }
  if (keyword === 'additionalProperties') return { field: joined(at, text('additionalProperty')), message: 'is not known' }
  if (keyword === 'enum') {
    const allowed: unknown = Reflect.get(params, 'allowedValues')
    return { field: at, message: `must be one of ${Array.isArray(allowed) ? allowed.map(String).join(', ') : String(allowed)}` }
  }
  if (keyword === 'const') return { field: at, message: `must be ${JSON.stringify(Reflect.get(params, 'allowedValue'))}` }
  return { field: at, message: message.replace(/^must NOT have/, 'must not have') }
}

/** `/items/0/text` as `items[0].text`. */
function fieldOf(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joined(path, part)), '')
}

const joined = (path: string, part: string): string => (path === '' ? part : `${path}.${part}`)
