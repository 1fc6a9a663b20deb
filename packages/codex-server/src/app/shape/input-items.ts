import { open } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { InputPart } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { BadParams } from '../answer-error.ts'
import { IMAGE_BYTES_MAX } from '../bounds.ts'
import type { Notes } from '../notes.ts'

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Where each kind of item has its value: in Codex's own words, and in those that were declared for the flat form. */
const KINDS = {
  text: { data: 'text', flat: ['text'] },
  image: { data: 'image_url', flat: ['imageUrl', 'image_url'] },
  localImage: { data: 'path', flat: ['path'] },
} as const
type Kind = keyof typeof KINDS

export interface ItemContext {
  readonly notes: Notes
  /** Where paths that are not absolute begin. */
  readonly folder: string
}

/**
 * What a client says, out of `{type, data: {…}}` or the declared flat `{type, text}`; a file that is no picture
 * stops nothing: Codex leaves it out, here the model is told. Throws `BadParams`.
 */
export function readItems(items: readonly JsonValue[], context: ItemContext): Promise<InputPart[]> {
  return Promise.all(items.map((item, index) => readItem(item, `items[${index}]`, context)))
}

async function readItem(item: JsonValue, at: string, { notes, folder }: ItemContext): Promise<InputPart> {
  if (!isJsonObject(item)) throw new BadParams(at, 'must be an object {type, data}')
  const kind = item['type']
  if (!isKind(kind)) throw new BadParams(`${at}.type`, 'must be text, image or localImage')
  const value = valueOf(item, kind, at, notes)
  if (kind === 'text') return { type: 'text', text: value }
  if (kind === 'image') return { type: 'image', url: value }
  const image = await readImage(resolve(folder, value))
  if ('url' in image) return { type: 'image', url: image.url }
  notes.say(`${at}: the picture ${JSON.stringify(value)} is left out: it ${image.why}`)
  return { type: 'text', text: `(The picture ${JSON.stringify(value)} could not be shown: it ${image.why}.)` }
}

function valueOf(item: JsonObject, kind: Kind, at: string, notes: Notes): string {
  const { data: name, flat } = KINDS[kind]
  const { data } = item
  if (data !== undefined) {
    if (!isJsonObject(data)) throw new BadParams(`${at}.data`, `must be an object {${name}}`)
    return text(data[name], `${at}.data.${name}`)
  }
  const found = flat.find((key) => item[key] !== undefined)
  if (found === undefined) throw new BadParams(`${at}.data`, `must be an object {${name}}`)
  notes.once(`item ${kind}`, `a flat item {type, ${found}} is taken for {type, data: {${name}}}`)
  return text(item[found], `${at}.${found}`)
}

function text(value: JsonValue | undefined, at: string): string {
  if (typeof value !== 'string') throw new BadParams(at, 'must be text')
  return value
}

/** A picture as a `data:` URL, or why it is none. */
async function readImage(path: string): Promise<{ readonly url: string } | { readonly why: string }> {
  const type = MEDIA_TYPES[extname(path).toLowerCase()]
  if (type === undefined) return { why: `does not end in ${Object.keys(MEDIA_TYPES).join(', ')}` }
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    if (size > IMAGE_BYTES_MAX) return { why: `is larger than ${IMAGE_BYTES_MAX} bytes` }
    return { url: `data:${type};base64,${(await file.readFile()).toString('base64')}` }
  } catch {
    return { why: 'cannot be read' }
  }
}

const isKind = (value: JsonValue | undefined): value is Kind => typeof value === 'string' && Object.hasOwn(KINDS, value)
