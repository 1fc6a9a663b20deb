import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { type Pictures, pictureIn } from './pictures.ts'
import { wrongField } from '../refusal.ts'

/** What a field may be: answers what of it goes on, throws `ModelRefusal` at its place. */
export type Check = (value: JsonValue, at: string, pictures: Pictures) => JsonValue
/** The fields of an object that go on. */
export type Fields = ReadonlyMap<string, Check>

/** Names of fields, known or not, that tell a provider to fetch something, or that it has something already. */
const FETCHED = /(?:^|_)(?:url|uri|file|image|picture|video|audio|media|source)s?(?:_|$)/i
const NOT_FETCHED = 'is not served here: nothing is fetched and nothing is kept upstream; send text, and pictures as data URLs'

export const fieldsOf = (fields: Readonly<Record<string, Check>>): Fields => new Map(Object.entries(fields))

/**
 * The known fields of an object. Others are left out, as those of the request itself: one that nobody here knows could fetch
 * something. Where its name says so it is refused, so that nobody takes it for read.
 */
export function shaped(value: JsonValue, at: string, fields: Fields, pictures: Pictures): JsonObject {
  if (!isJsonObject(value)) throw wrongField(at, 'must be an object')
  const passed: JsonObject = {}
  for (const [field, one] of Object.entries(value)) {
    const check = fields.get(field)
    if (one === undefined) continue
    if (check !== undefined) passed[field] = one === null ? null : check(one, `${at}.${field}`, pictures)
    else if (one !== null && FETCHED.test(field)) throw wrongField(`${at}.${field}`, NOT_FETCHED)
  }
  return passed
}

/** An object whose `type` says which fields it has. */
export function typed(value: JsonValue, at: string, kinds: ReadonlyMap<string, Fields>, pictures: Pictures): JsonObject {
  if (!isJsonObject(value)) throw wrongField(at, 'must be an object')
  const { type } = value
  const fields = typeof type === 'string' ? kinds.get(type) : undefined
  if (fields !== undefined) return shaped(value, at, fields, pictures)
  // Rather the field that is at fault than the type that has it.
  shaped(value, at, new Map(), pictures)
  throw wrongField(`${at}.type`, `must be one of ${[...kinds.keys()].join(', ')}: others are not served here`)
}

export const plain: Check = (value, at) => {
  if (typeof value === 'object') throw wrongField(at, 'must be text')
  return value
}

export const listOf =
  (one: Check): Check =>
  (value, at, pictures) => {
    if (!Array.isArray(value)) throw wrongField(at, 'must be a list')
    return value.map((entry, index) => one(entry, `${at}[${index}]`, pictures))
  }

export const objectOf =
  (fields: Fields): Check =>
  (value, at, pictures) =>
    shaped(value, at, fields, pictures)

export const picture: Check = pictureIn

/** What a provider said and wants back as it was; only what it is called is looked at. */
export const echoed: Check = (value, at) => {
  for (const [object, path] of objectsIn(value, at))
    for (const [field, one] of Object.entries(object))
      if (one !== null && FETCHED.test(field)) throw wrongField(`${path()}.${field}`, NOT_FETCHED)
  return value
}

/** A JSON Schema refers to its own parts and to nothing elsewhere. */
export function checkReferences(document: JsonValue | undefined, at: string): void {
  for (const [object, path] of objectsIn(document, at))
    for (const field of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const target = object[field]
      if (typeof target === 'string' && !target.startsWith('#'))
        throw wrongField(`${path()}.${field}`, 'schemas are not fetched here: put what it refers to under $defs')
    }
}

/**
 * Every object in a document, and where it is. Without recursion, since a document may be nested deeper than the stack, and
 * with the way to one object alone in memory, since it may have millions.
 */
function* objectsIn(document: unknown, path: string): Generator<[JsonObject, () => string]> {
  const way: { key: string; readonly left: Iterator<[string | number, unknown], undefined> }[] = [
    { key: '', left: [['', document] as [string, unknown]].values() },
  ]
  const at = (): string => way.reduce((text, { key }) => text + key, path)
  for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
    const { value: entry } = last.left.next()
    if (entry === undefined) {
      way.pop()
      continue
    }
    const [key, value] = entry
    if (way.length > 1) last.key = typeof key === 'number' ? `[${key}]` : `.${key}`
    if (Array.isArray(value)) way.push({ key: '', left: value.entries() })
    else if (isJsonObject(value)) {
      yield [value, at]
      way.push({ key: '', left: Object.entries(value).values() })
    }
  }
}
