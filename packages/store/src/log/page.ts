import { bytes, integer } from '../database/column.ts'
import type { Queries, Row } from '../database/database.ts'
import { MAX_PAGE_ENTRIES } from '../limits.ts'
import type { Head } from './head.ts'
import type { LogEntry, LogPage, Position } from './log.ts'
import { OFFSET_BEFORE, PAGE, SEQ_AT_OFFSET } from './statements.ts'

/** Reads on from a position. One past the end is answered from the end. */
export async function readPage(queries: Queries, head: Head, from: Position, maxBytes: number): Promise<LogPage> {
  const entries =
    'seq' in from ? await fromSeq(queries, head, from.seq, maxBytes) : await fromOffset(queries, head, from.offset, maxBytes)
  const last = entries.at(-1)
  const next = last === undefined ? { seq: head.seq, offset: head.offset } : { seq: last.seq + 1, offset: last.offset }
  return { entries, next, closed: head.closed && next.seq >= head.seq }
}

/** The bytes from an offset on, at most `length`, across entries. */
export async function readBytes(queries: Queries, head: Head, offset: number, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let at = offset
  while (at < offset + length) {
    const entries = await fromOffset(queries, head, at, offset + length - at)
    const last = entries.at(-1)
    // Also where an entry ends no later than it begins: the next read would bring it again.
    if (last === undefined || last.offset <= at) break
    pieces.push(...entries.map((entry) => entry.bytes))
    at = last.offset
  }
  return Buffer.concat(pieces).subarray(0, length)
}

async function fromSeq(queries: Queries, head: Head, seq: number, maxBytes: number): Promise<readonly LogEntry[]> {
  if (seq >= head.seq) return []
  const before = seq === 0 ? undefined : await queries.get(OFFSET_BEFORE, [head.id, seq])
  const start = before === undefined ? 0 : integer(before, 'end_offset')
  return readRows(queries, head.id, seq, start + maxBytes)
}

async function fromOffset(queries: Queries, head: Head, offset: number, maxBytes: number): Promise<readonly LogEntry[]> {
  if (offset >= head.offset) return []
  const found = await queries.get(SEQ_AT_OFFSET, [head.id, offset, head.seq])
  if (found === undefined) return []
  const [first, ...rest] = await readRows(queries, head.id, integer(found, 'seq'), offset + maxBytes)
  return first === undefined ? [] : [tailFrom(first, offset), ...rest]
}

function tailFrom(entry: LogEntry, offset: number): LogEntry {
  const start = entry.offset - entry.bytes.length
  return offset <= start ? entry : { ...entry, bytes: entry.bytes.subarray(offset - start) }
}

async function readRows(queries: Queries, id: number, seq: number, lastByte: number): Promise<readonly LogEntry[]> {
  return (await queries.all(PAGE, [id, seq, lastByte, MAX_PAGE_ENTRIES])).map(toEntry)
}

function toEntry(row: Row): LogEntry {
  return { seq: integer(row, 'seq'), offset: integer(row, 'end_offset'), at: integer(row, 'at'), bytes: bytes(row, 'bytes') }
}
