import { type JsonObject, isJsonObject } from '@parley/protocol'
import { wrongField } from './refusal.ts'

/** Parts that a provider takes for a picture, and the field that has it. */
const PICTURE_PARTS: ReadonlySet<unknown> = new Set(['input_image', 'image_url', 'computer_screenshot'])
const PICTURE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=_-]*$/
/** What a provider would fetch by itself: from anywhere, with its own network, and of any size. */
const FETCHED = ['file_id', 'file_url'] as const

export interface Pictures {
  readonly count: number
  /** Characters that they have, which are no text. */
  readonly chars: number
}

/**
 * The pictures in what was said, by the type of their part: a text that merely looks like one is counted as text. Throws
 * `ModelRefusal` for what a provider would have to fetch.
 */
export function picturesIn(said: unknown, path: string): Pictures {
  let [count, chars] = [0, 0]
  for (const [part, at] of objectsIn(said, path)) {
    for (const field of FETCHED)
      if ((part[field] ?? null) !== null) throw wrongField(`${at()}.${field}`, 'files are not fetched here: send the content')
    if (part['type'] === 'item_reference')
      throw wrongField(`${at()}.type`, 'nothing is kept upstream: send the item itself, not a reference to it')
    const picture = pictureOf(part, at)
    if (picture !== undefined) [count, chars] = [count + 1, chars + picture.length]
  }
  return { count, chars }
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

function pictureOf(part: JsonObject, at: () => string): string | undefined {
  const { type, image_url: image } = part
  if ((image ?? null) === null) return undefined
  const url = isJsonObject(image) ? image['url'] : image
  if (typeof url !== 'string') throw wrongField(`${at()}.image_url`, 'must be a data URL')
  if (!url.startsWith('data:')) throw wrongField(`${at()}.image_url`, 'pictures are not fetched here: send it as a data URL')
  return PICTURE_PARTS.has(type) && PICTURE.test(url) ? url : undefined
}
