import { read } from 'node:fs'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { BoundTool, RunContext, ToolResult } from './toolbox.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import type { Folder, NamedFile } from './folder/folder.ts'
import { refusedBySystem } from './folder/path-refused.ts'
import { type ImageKind, dataUrl, imageKind } from './image.ts'
import { LineWindow, type Window } from './line-window.ts'
import { ownTool } from './own-tool.ts'
import { failed, said } from './result.ts'

const Input = z.strictObject({
  path: z.string().describe('Relative to the working folder, or absolute.'),
  offset: z.int().min(1).nullable().describe('The first line to read, counted from 1; null for the first.'),
  limit: z.int().min(1).nullable().describe('How many lines; null for as many as fit.'),
})

const readAt = promisify(read)
const CHUNK_BYTES = 256 * 1024
/** The beginning of a file, in which a NUL byte tells that it is binary. */
const PROBE_BYTES = 8 * 1024
/** Kept free for the last line of the answer. */
const FOOTER_BYTES = 400
/** Number and tabulator before a line, and its end. */
const NUMBER_BYTES = 8

export interface ReadFileParts {
  readonly folder: Folder
  readonly resultBytes: number
}

export function readFileTool(parts: ReadFileParts): BoundTool {
  return ownTool({
    name: 'read_file',
    description:
      'Reads a text file with line numbers, or looks at an image (PNG, JPEG, GIF, WebP). The last line of the answer says whether the file ends there or which offset goes on.',
    input: Input,
    run: async (input, context) => {
      try {
        using file = parts.folder.openFile(input.path, context.reach)
        return await readOpen(file, input, context, parts.resultBytes)
      } catch (error) {
        if (context.signal.aborted) throw error
        return failed(refusedBySystem(input.path, error).message)
      }
    },
  })
}

type Input = z.infer<typeof Input>

async function readOpen(file: NamedFile, input: Input, { signal }: RunContext, resultBytes: number): Promise<ToolResult> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  const first = await fill(file.fd, buffer, 0)
  const kind = imageKind(buffer.subarray(0, first))
  if (kind !== undefined) return image(file, kind)
  const from = input.offset ?? 1
  const count = Math.min(input.limit ?? TOOL_BOUNDS.readLines, TOOL_BOUNDS.readLines)
  const window = new LineWindow({
    from,
    count,
    lineBytes: Math.min(TOOL_BOUNDS.lineBytes, resultBytes),
    totalBytes: Math.max(1, resultBytes - FOOTER_BYTES),
    prefixBytes: NUMBER_BYTES,
  })
  let scanned = 0
  for (let size = first; size > 0 && scanned < TOOL_BOUNDS.scannedBytes; size = await fill(file.fd, buffer, scanned)) {
    signal.throwIfAborted()
    const chunk = buffer.subarray(0, size)
    const probed = scanned < PROBE_BYTES ? chunk.subarray(0, PROBE_BYTES - scanned) : chunk.subarray(0, 0)
    if (probed.includes(0)) return failed(`${file.shown} is a binary file of ${file.stats.size} bytes: it has no lines to read`)
    window.add(chunk)
    scanned += size
  }
  const isWhole = (await fill(file.fd, buffer, scanned)) === 0
  return told(file, window.finish(), { from, scanned, isWhole })
}

async function fill(fd: number, buffer: Buffer, position: number): Promise<number> {
  return (await readAt(fd, buffer, 0, buffer.length, position)).bytesRead
}

async function image(file: NamedFile, kind: ImageKind): Promise<ToolResult> {
  if (file.stats.size > TOOL_BOUNDS.imageBytes)
    return failed(
      `${file.shown} is an image (${kind}) of ${file.stats.size} bytes: ${TOOL_BOUNDS.imageBytes} at most can be looked at`,
    )
  const bytes = Buffer.alloc(file.stats.size)
  let size = 0
  for (let more = -1; more !== 0 && size < bytes.length; size += more)
    more = (await readAt(file.fd, bytes, size, bytes.length - size, size)).bytesRead
  return {
    parts: [
      { type: 'text', text: `${file.shown}: ${kind}, ${size} bytes` },
      { type: 'image', url: dataUrl(kind, bytes.subarray(0, size)) },
    ],
    isError: false,
  }
}

interface Scan {
  readonly from: number
  readonly scanned: number
  readonly isWhole: boolean
}

function told(file: NamedFile, window: Window, { from, scanned, isWhole }: Scan): ToolResult {
  const { lines, total, next, invalidLine, endsWithCarriageReturn } = window
  if (isWhole && scanned === 0) return said(`[${file.shown} is empty]`)
  const all = isWhole ? `${total} lines, ${scanned} bytes` : `more than ${total} lines, ${file.stats.size} bytes`
  const last = lines.at(-1)
  if (last === undefined) return failed(`${file.shown} has no line ${from}: it has ${all}`)
  const notes = [
    `lines ${from} to ${last.number} of ${file.shown}: ${all}`,
    next === null ? (isWhole ? 'end of file' : 'the rest is too far in to be read') : `next offset ${next}`,
    ...(invalidLine === null ? [] : [`not UTF-8 from line ${invalidLine} on: such bytes show as \uFFFD`]),
    ...(endsWithCarriageReturn ? ['lines end with CRLF'] : []),
  ]
  const numbered = lines.map(({ number, text }) => `${String(number).padStart(6)}\t${text}`)
  return said(`${numbered.join('\n')}\n[${notes.join('; ')}]`)
}
