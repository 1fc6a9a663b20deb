import { integer } from '../database/column.ts'
import type { Database, Queries, Row } from '../database/database.ts'
import { LeaseLost, StoreUnavailable } from '../errors.ts'
import { type LeaseFence, fenceValues } from '../lease/fence.ts'
import { CHECK } from '../lease/statements.ts'
import { DEFAULT_LOG_MAX_BYTES, DEFAULT_LOG_MAX_ENTRIES } from '../limits.ts'
import { continuation } from './continuation.ts'
import { type Head, findHead } from './head.ts'
import type { AppendOptions, AppendOutcome, Position } from './log.ts'
import { APPEND_ALL, APPEND_ALL_FENCED, APPEND_ONE, APPEND_ONE_FENCED, CREATE, CREATE_FENCED } from './statements.ts'

/** How often the log may change under an append before it gives up; each try sees a new end. */
const MAX_TRIES = 16

/** What a try to write at the end gave: where the log ends now, and what was written. */
export interface Placed {
  readonly logId: number
  readonly seq: number
  readonly offset: number
  readonly at: number
  readonly entries: readonly Uint8Array[]
}
interface Write {
  readonly name: string
  readonly entries: readonly Uint8Array[]
  readonly at: Position | undefined
  readonly fence: LeaseFence | undefined
  readonly now: number
}

/** Tries the one guarded statement first; only when it wrote nothing is the reason looked for. */
export async function append(
  db: Database,
  now: () => number,
  name: string,
  entries: readonly Uint8Array[],
  { at, fence }: AppendOptions,
): Promise<{ readonly outcome: AppendOutcome; readonly placed?: Placed }> {
  let write: Write = { name, entries, at, fence, now: now() }
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const placed = write.entries.length === 0 ? undefined : await place(db, write)
    if (placed !== undefined) return { outcome: { kind: 'appended', seq: placed.seq, offset: placed.offset }, placed }
    if (fence !== undefined) await checkFence(db, fence, write.now)
    const head = await findHead(db, name)
    if (head === undefined && entries.length > 0) {
      await create(db, write)
      continue
    }
    const next = await explain(db, head ?? EMPTY, write, entries, at)
    if ('kind' in next) return { outcome: next }
    write = { ...next, now: now() }
  }
  throw new StoreUnavailable(`log ${name} changes faster than it can be written to`)
}

const EMPTY: Head = {
  id: 0,
  seq: 0,
  offset: 0,
  closed: false,
  maxBytes: DEFAULT_LOG_MAX_BYTES,
  maxEntries: DEFAULT_LOG_MAX_ENTRIES,
}

/** Why nothing was written; or what to try now, when the log has moved or part of it stands there already. */
async function explain(
  db: Database,
  head: Head,
  write: Write,
  sent: readonly Uint8Array[],
  at: Position | undefined,
): Promise<Extract<AppendOutcome, { kind: string }> | Write> {
  const end = { seq: head.seq, offset: head.offset }
  const next = await continuation(db, head, sent, at)
  if (next.kind !== 'rest') return { kind: next.kind, ...end }
  if (next.entries.length === 0) return { kind: 'repeated', ...end }
  if (head.closed) return { kind: 'closed', ...end }
  const size = next.entries.reduce((sum, entry) => sum + entry.length, 0)
  if (head.offset + size > head.maxBytes || head.seq + next.entries.length > head.maxEntries) return { kind: 'full', ...end }
  return { ...write, entries: next.entries, at: at === undefined ? undefined : { seq: head.seq } }
}

/** Under a fence only while it holds: otherwise the log of something that was deleted meanwhile would stay behind. */
async function create(db: Database, { name, fence, now }: Write): Promise<void> {
  const values = [name, DEFAULT_LOG_MAX_BYTES, DEFAULT_LOG_MAX_ENTRIES]
  if (fence === undefined) await db.run(CREATE, values)
  else await db.run(CREATE_FENCED, [...values, ...fenceValues(fence, now)])
}

async function checkFence(db: Database, fence: LeaseFence, now: number): Promise<void> {
  const held = await db.get(CHECK, fenceValues(fence, now))
  if (held === undefined) throw new LeaseLost(fence)
}

function place(db: Database, write: Write): Promise<Placed | undefined> {
  if (db.engine === 'postgres') return placeAll(db, write)
  return write.entries.length === 1 ? placeEach(db, write) : db.transaction((tx) => placeEach(tx, write))
}

/** SQLite: one statement per entry. The first carries the conditions of all, so either none or every one is written. */
async function placeEach(queries: Queries, write: Write): Promise<Placed | undefined> {
  let size = write.entries.reduce((sum, entry) => sum + entry.length, 0)
  let count = write.entries.length
  let row: Row | undefined
  for (const entry of write.entries) {
    const expected = row === undefined ? expectation(write.at) : [null, null]
    const values = [write.name, write.now, entry, entry.length, size, count, ...expected]
    row =
      write.fence === undefined
        ? await queries.get(APPEND_ONE, values)
        : await queries.get(APPEND_ONE_FENCED, [...values, ...fenceValues(write.fence, write.now)])
    if (row === undefined) return undefined
    size -= entry.length
    count -= 1
  }
  return toPlaced(row, write)
}

/** PostgreSQL: one statement and one round trip for all. */
async function placeAll(db: Database, write: Write): Promise<Placed | undefined> {
  const ends: number[] = []
  for (const entry of write.entries) ends.push((ends.at(-1) ?? 0) + entry.length)
  const starts = [0, ...ends.slice(0, -1)]
  const [only] = write.entries
  const bytes = only !== undefined && ends.length === 1 ? only : Buffer.concat(write.entries)
  const values = [write.name, write.now, bytes, starts, ends, ...expectation(write.at)]
  const row =
    write.fence === undefined
      ? await db.get(APPEND_ALL, values)
      : await db.get(APPEND_ALL_FENCED, [...values, ...fenceValues(write.fence, write.now)])
  return toPlaced(row, write)
}

function expectation(at: Position | undefined): readonly (number | null)[] {
  if (at === undefined) return [null, null]
  return 'offset' in at ? [at.offset, null] : [null, at.seq]
}

function toPlaced(row: Row | undefined, write: Write): Placed | undefined {
  if (row === undefined) return undefined
  return {
    logId: integer(row, 'log_id'),
    seq: integer(row, 'seq'),
    offset: integer(row, 'end_offset'),
    at: write.now,
    entries: write.entries,
  }
}
