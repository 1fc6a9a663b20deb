import { isDeepStrictEqual } from 'node:util'
import { type JsonObject, type JsonValue, isJsonObject, parseForeign } from '@parley/protocol'
import type { ResultPart, ToolResult } from '../toolbox.ts'
import { TOOL_BOUNDS } from '../bounds.ts'
import { cutText } from '../cut.ts'
import { dataUrl, imageKind } from '../image.ts'
import { withoutNul } from '../without-nul.ts'

/** What the model reads of a mounted server's answer; the answer itself goes along untouched. */
export function mountedResult(raw: JsonObject, resultBytes: number): ToolResult {
  const isError = raw['isError'] === true
  const parts = joined(contentParts(raw))
  const marked: readonly ResultPart[] = isError ? withMark(parts) : parts
  const clean = withoutNul({ parts: marked, isError, raw })
  return { ...clean, parts: cutParts(clean.parts, resultBytes) }
}

function contentParts(raw: JsonObject): readonly ResultPart[] {
  const blocks = Array.isArray(raw['content']) ? raw['content'] : []
  const { structuredContent } = raw
  const pictures: Pictures = { left: TOOL_BOUNDS.resultImages }
  const parts = blocks.map((block) => partOf(block, pictures))
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (structuredContent !== undefined && (words === '' || isDeepStrictEqual(parseForeign(words), structuredContent))) {
    return [textPart(JSON.stringify(structuredContent)), ...parts.filter(({ type }) => type === 'image')]
  }
  return parts.length === 0 ? [textPart('(the tool answered nothing)')] : parts
}

interface Pictures {
  left: number
}

function partOf(block: JsonValue, pictures: Pictures): ResultPart {
  if (!isJsonObject(block)) return textPart(`[unreadable content: ${JSON.stringify(block)}]`)
  const type = textAt(block, 'type')
  switch (type) {
    case 'text':
      return textPart(textAt(block, 'text'))
    case 'image':
      return picture(textAt(block, 'data'), textAt(block, 'mimeType'), pictures)
    case 'audio':
      return textPart(
        `[audio, ${textAt(block, 'mimeType') || 'of unknown kind'}, ${decodedBytes(textAt(block, 'data'))} bytes: not shown]`,
      )
    case 'resource_link':
      return textPart(`[resource link: ${about(block)}]`)
    case 'resource':
      return resource(isJsonObject(block['resource']) ? block['resource'] : {}, pictures)
    default:
      return textPart(`[content of the unknown type ${JSON.stringify(type)}: not shown]`)
  }
}

/** The kind of an image is read from its first bytes: the name that a server gives may be wrong, and a provider would refuse it. */
function picture(data: string, named: string, pictures: Pictures): ResultPart {
  const bytes = Buffer.from(data, 'base64')
  const kind = imageKind(bytes)
  const words = `image, ${kind ?? (named || 'of unknown kind')}, ${bytes.length} bytes`
  if (kind === undefined) return textPart(`[${words}: not a PNG, JPEG, GIF or WebP, not shown]`)
  if (bytes.length > TOOL_BOUNDS.imageBytes) return textPart(`[${words}: more than ${TOOL_BOUNDS.imageBytes}, not shown]`)
  if (pictures.left <= 0) return textPart(`[${words}: one of more than ${TOOL_BOUNDS.resultImages}, not shown]`)
  pictures.left--
  return { type: 'image', url: dataUrl(kind, bytes) }
}

function resource(found: JsonObject, pictures: Pictures): ResultPart {
  if (typeof found['text'] === 'string') return textPart(`[resource ${about(found)}]\n${found['text']}`)
  const data = textAt(found, 'blob')
  if (textAt(found, 'mimeType').startsWith('image/')) return picture(data, textAt(found, 'mimeType'), pictures)
  return textPart(`[resource ${about(found)}, ${decodedBytes(data)} bytes of binary data: not shown]`)
}

function about(found: JsonObject): string {
  const words = [
    textAt(found, 'title') || textAt(found, 'name'),
    `<${textAt(found, 'uri')}>`,
    textAt(found, 'mimeType'),
    textAt(found, 'description'),
  ]
  return words.filter((word) => word !== '').join(', ')
}

const ERROR = 'ERROR\n'

function withMark(parts: readonly ResultPart[]): readonly ResultPart[] {
  const [first, ...rest] = parts
  return first?.type === 'text' ? [textPart(ERROR + first.text), ...rest] : [textPart(ERROR), ...parts]
}

/** Texts that follow each other are joined into one. */
function joined(parts: readonly ResultPart[]): readonly ResultPart[] {
  const all: ResultPart[] = []
  for (const part of parts) {
    const last = all.at(-1)
    if (last?.type === 'text' && part.type === 'text') all[all.length - 1] = textPart(`${last.text}\n${part.text}`)
    else all.push(part)
  }
  return all
}

/** Texts share the bound in proportion to their lengths. */
function cutParts(parts: readonly ResultPart[], resultBytes: number): readonly ResultPart[] {
  const sizes = parts.map((part) => (part.type === 'text' ? Buffer.byteLength(part.text) : 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= resultBytes) return parts
  return parts.map((part, index) =>
    part.type === 'text' ? textPart(cutText(part.text, Math.floor((resultBytes * (sizes[index] ?? 0)) / total))) : part,
  )
}

const textPart = (text: string): ResultPart => ({ type: 'text', text })
const decodedBytes = (data: string): number => Buffer.byteLength(data, 'base64')

function textAt(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}
