import { createHash } from 'node:crypto'
import type * as z from 'zod'
import { type COMPOSITOR_TOOLS, isJsonObject, type JsonObject, ToolError, wrongArgument } from '@parley/protocol'

/** One of the contents of a resource, as bytes. */
export interface ResourcePart {
  readonly uri: string
  readonly mimeType: string | null
  readonly kind: 'text' | 'blob'
  readonly bytes: Buffer
}

/** The whole content of a resource at one time. */
export interface ResourceContent {
  readonly parts: readonly ResourcePart[]
  readonly bytes: number
  /** A hash of all of it. */
  readonly version: string
}

/** What `resources_read` answers. */
export type ResourceWindow = z.output<(typeof COMPOSITOR_TOOLS)['resources_read']['output']>

export interface WindowWish {
  readonly part: number
  readonly offset: number
  readonly maxBytes: number
}

/** The result of `resources/read` as bytes. */
export function readContent(result: JsonObject): ResourceContent {
  const contents = Array.isArray(result.contents) ? result.contents.filter(isJsonObject) : []
  const parts = contents.map(partOf)
  const hash = createHash('sha256')
  // The length of each stands before it, so that no two lists of parts have the same bytes.
  for (const { kind, bytes } of parts) hash.update(`${kind}:${bytes.length}:`).update(bytes)
  return { parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes.length, 0), version: hash.digest('hex') }
}

/** A window that ends where the next can begin: it splits neither a character nor a group of base64. */
export function windowOf({ parts, version }: ResourceContent, { part, offset, maxBytes }: WindowWish): ResourceWindow {
  const found = parts[part]
  if (found === undefined) throw wrongArgument('part', `there are ${parts.length} parts`, 'parts are counted from 0')
  const total = found.bytes.length
  if (offset > total) throw wrongArgument('offset', `the part has ${total} bytes`)
  const [begin, end] = found.kind === 'text' ? textWindow(found.bytes, offset, maxBytes) : blobWindow(total, offset, maxBytes)
  const bytes = found.bytes.subarray(begin, end)
  const eof = end === total
  return {
    uri: found.uri,
    mime_type: found.mimeType,
    ...(found.kind === 'text' ? { text: bytes.toString('utf8') } : { blob: bytes.toString('base64') }),
    offset: begin,
    next_offset: eof ? null : end,
    eof,
    total,
    part,
    parts: parts.length,
    next_part: eof && part + 1 < parts.length ? part + 1 : null,
    version,
  }
}

export function versionChanged(uri: string): ToolError {
  return new ToolError('conflict', `version_changed: ${uri} is not what it was when the earlier window was read`, {
    hint: 'begin anew: read without offset and version',
  })
}

/** Both borders go back to the beginning of a character, so the next window begins where this one ends. */
function textWindow(bytes: Buffer, offset: number, maxBytes: number): readonly [begin: number, end: number] {
  const begin = characterStart(bytes, offset)
  return [begin, characterStart(bytes, Math.min(begin + maxBytes, bytes.length))]
}

const CONTINUATION_MASK = 0b1100_0000
const CONTINUATION = 0b1000_0000

function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & CONTINUATION_MASK) === CONTINUATION) start--
  return start
}

/** Bytes that base64 writes as one group. */
const GROUP = 3

function blobWindow(total: number, offset: number, maxBytes: number): readonly [begin: number, end: number] {
  const begin = offset === total ? total : offset - (offset % GROUP)
  const most = maxBytes - (maxBytes % GROUP)
  return [begin, Math.min(begin + most, total)]
}

function partOf({ uri, mimeType, text, blob }: JsonObject): ResourcePart {
  const named = { uri: typeof uri === 'string' ? uri : '', mimeType: typeof mimeType === 'string' ? mimeType : null }
  if (typeof blob === 'string') return { ...named, kind: 'blob', bytes: Buffer.from(blob, 'base64') }
  return { ...named, kind: 'text', bytes: Buffer.from(typeof text === 'string' ? text : '', 'utf8') }
}
