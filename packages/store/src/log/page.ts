import { type Queries, type Row, LogTrimmed, bytes, integer } from '@parley/database'
import { MAX_PAGE_ENTRIES } from '../limits.ts'
import type { Head } from './head.ts'
import type { LogEntry, LogPage, Position } from './log.ts'
import { FIRST, OFFSET_BEFORE, PAGE, SEQ_AT_OFFSET } from './statements.ts'

/** Reads on from a position. One past the end is answered from the end; for one that is gone `LogTrimmed` is thrown. */
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
  if (seq < head.firstSeq) throw new LogTrimmed({ seq: head.firstSeq, offset: head.firstOffset })
  const before = seq === head.firstSeq ? undefined : await queries.get(OFFSET_BEFORE, [head.id, seq])
  const start = before === undefined ? head.firstOffset : integer(before, 'end_offset')
  return readRows(queries, head, seq, start + maxBytes)
}

async function fromOffset(queries: Queries, head: Head, offset: number, maxBytes: number): Promise<readonly LogEntry[]> {
  if (offset >= head.offset) return []
  if (offset < head.firstOffset) throw new LogTrimmed({ seq: head.firstSeq, offset: head.firstOffset })
  const found = await queries.get(SEQ_AT_OFFSET, [head.id, offset, head.firstSeq, head.seq])
  // Halving finds nothing where an entry is gone that was there a moment ago.
  if (found === undefined) {
    await checkKept(queries, head)
    return []
  }
  const [first, ...rest] = await readRows(queries, head, integer(found, 'seq'), offset + maxBytes)
  return first === undefined ? [] : [tailFrom(first, offset), ...rest]
}

function tailFrom(entry: LogEntry, offset: number): LogEntry {
  const start = entry.offset - entry.bytes.length
  return offset <= start ? entry : { ...entry, bytes: entry.bytes.subarray(offset - start) }
}

async function readRows(queries: Queries, head: Head, seq: number, lastByte: number): Promise<readonly LogEntry[]> {
  const entries = (await queries.all(PAGE, [head.id, seq, lastByte, MAX_PAGE_ENTRIES])).map(toEntry)
  // What follows must not pass for what is gone.
  if (entries[0]?.seq !== seq) await checkKept(queries, head)
  return entries
}

/** Throws `LogTrimmed` where the log begins later than a moment ago. One that was deleted meanwhile has nothing more to read. */
async function checkKept(queries: Queries, head: Head): Promise<void> {
  const row = await queries.get(FIRST, [head.id])
  if (row === undefined || integer(row, 'first_seq') === head.firstSeq) return
  throw new LogTrimmed({ seq: integer(row, 'first_seq'), offset: integer(row, 'first_offset') })
}

function toEntry(row: Row): LogEntry {
  return { seq: integer(row, 'seq'), offset: integer(row, 'end_offset'), at: integer(row, 'at'), bytes: bytes(row, 'bytes') }
}
