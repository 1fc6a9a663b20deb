import type * as z from 'zod'
import { type COMPOSITOR_TOOLS, ToolError, wrongArgument } from '@parley/protocol'
import type { ResourceContent } from '../shown/resource-content.ts'

/** What `resources_read` answers. */
export type ResourceWindow = z.output<(typeof COMPOSITOR_TOOLS)['resources_read']['output']>

export interface WindowWish {
  readonly part: number
  readonly offset: number
  readonly maxBytes: number
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
