import type { JsonObject, JsonValue } from '@parley/protocol'

/** Longer texts are made anew each time, so that a large conversation is not held twice. */
const KEPT_CHARACTERS = 1024 * 1024

/** A list as it was sent, and the text of its elements. They are never changed once they are there. */
interface Sent {
  readonly elements: readonly JsonValue[]
  /** How many it had. */
  readonly count: number
  readonly text: string
}

/** What was sent last, by the very object that it began with. */
const sent = new WeakMap<object, Sent>()

/**
 * A body as JSON. A conversation repeats itself at every request: of a list that begins with what was sent before, as the same
 * objects, only the rest is made text of.
 */
export function bodyText(body: JsonObject): string {
  const fields: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    fields.push(`${JSON.stringify(name)}:${Array.isArray(value) ? `[${elementsText(value)}]` : JSON.stringify(value)}`)
  }
  return `{${fields.join(',')}}`
}

function elementsText(list: readonly JsonValue[]): string {
  const [first] = list
  if (typeof first !== 'object' || first === null) return textFrom(list, 0)
  const known = sent.get(first)
  const text = known !== undefined && isStartOf(known, list) ? continued(known, list) : textFrom(list, 0)
  if (text.length <= KEPT_CHARACTERS) sent.set(first, { elements: list, count: list.length, text })
  else sent.delete(first)
  return text
}

function isStartOf({ elements, count }: Sent, list: readonly JsonValue[]): boolean {
  if (count > list.length) return false
  for (let index = 0; index < count; index += 1) if (elements[index] !== list[index]) return false
  return true
}

const continued = ({ count, text }: Sent, list: readonly JsonValue[]): string =>
  count === list.length ? text : `${text},${textFrom(list, count)}`

function textFrom(list: readonly JsonValue[], start: number): string {
  const texts: string[] = []
  for (let index = start; index < list.length; index += 1) texts.push(JSON.stringify(list[index]))
  return texts.join(',')
}
