import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@parley/protocol'

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

/** The result of `resources/read` as bytes. */
export function readContent(result: JsonObject): ResourceContent {
  const contents = Array.isArray(result.contents) ? result.contents.filter(isJsonObject) : []
  const parts = contents.map(partOf)
  const hash = createHash('sha256')
  // The length of each stands before it, so that no two lists of parts have the same bytes.
  for (const { kind, bytes } of parts) hash.update(`${kind}:${bytes.length}:`).update(bytes)
  return { parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes.length, 0), version: hash.digest('hex') }
}

function partOf({ uri, mimeType, text, blob }: JsonObject): ResourcePart {
  const named = { uri: typeof uri === 'string' ? uri : '', mimeType: typeof mimeType === 'string' ? mimeType : null }
  if (typeof blob === 'string') return { ...named, kind: 'blob', bytes: Buffer.from(blob, 'base64') }
  return { ...named, kind: 'text', bytes: Buffer.from(typeof text === 'string' ? text : '', 'utf8') }
}
