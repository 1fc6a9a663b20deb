import {
  type Database,
  type Queries,
  type Row,
  type Value,
  LeaseLost,
  StoreUnavailable,
  bytesOrNull,
  integer,
  integerOrNull,
} from '@parley/database'
import { type LeaseFence, fenceValues } from '../lease/fence.ts'
import { CHECK } from '../lease/statements.ts'
import { DEFAULT_LOG_MAX_BYTES, DEFAULT_LOG_MAX_ENTRIES } from '../limits.ts'
import type { ChainedEnd, ChainedEnds, LogChain } from './chain.ts'
import { continuation } from './continuation.ts'
import { type Head, findHead } from './head.ts'
import type { AppendOptions, AppendOutcome, Position } from './log.ts'
import { CHAIN_STATE, CREATE, CREATE_FENCED, SET_CHAIN_HEAD, appendAll, appendOne } from './statements.ts'
import { makeRoom } from './trim.ts'

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
  readonly chained?: Chained
  readonly also?: AppendOptions['also']
}
/** What is written of the chain with an append: it counts only while the log's head is the one before. */
interface Chained {
  readonly before: ChainedEnd
  readonly head: Uint8Array
  readonly chains: readonly Uint8Array[]
}

/** Tries the one guarded statement first; only when it wrote nothing is the reason looked for. */
export async function append(
  db: Database,
  { now, ends }: { readonly now: () => number; readonly ends: ChainedEnds },
  name: string,
  entries: readonly Uint8Array[],
  { at, fence, chain, rolls, also }: AppendOptions,
): Promise<{ readonly outcome: AppendOutcome; readonly placed?: Placed }> {
  let write: Write = { name, entries, at, fence, now: now(), ...(also === undefined ? {} : { also }) }
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const placed = write.entries.length === 0 ? undefined : await placeNext(db, ends, write, chain)
    if (placed !== undefined) return { outcome: { kind: 'appended', seq: placed.seq, offset: placed.offset }, placed }
    ends.forget(name)
    if (fence !== undefined) await checkFence(db, fence, write.now)
    const head = await findHead(db, name)
    if (head === undefined && entries.length > 0) {
      await create(db, write, rolls?.maxBytes ?? DEFAULT_LOG_MAX_BYTES)
      continue
    }
    const next = await explain(db, head ?? EMPTY, write, entries, at)
    if ('kind' in next) {
      const isRoomMade = next.kind === 'full' && rolls !== undefined && (await makeRoom(db, name, sizeOf(write.entries), chain))
      if (!isRoomMade) return { outcome: next }
      write = { ...write, now: now() }
    } else write = { ...next, now: now() }
  }
  throw new StoreUnavailable(`log ${name} changes faster than it can be written to`)
}

/** Writes at the end, chained to what is there. Where that is not known it is asked for; it must be so still when it is written. */
async function placeNext(
  db: Database,
  ends: ChainedEnds,
  write: Write,
  chain: LogChain | undefined,
): Promise<Placed | undefined> {
  if (chain === undefined) return place(db, write)
  const { name, entries, now } = write
  const before = ends.get(name) ?? (await readEnd(db, name))
  if (before === undefined || !mayStandAt(write.at, before.offset)) return undefined
  const chained = { before, ...chain.extend(before, entries, now) }
  const placed = await place(db, { ...write, chained })
  if (placed !== undefined) ends.set({ name, offset: placed.offset, head: chained.head, isChained: true })
  return placed
}

async function readEnd(queries: Queries, name: string): Promise<ChainedEnd | undefined> {
  const row = await queries.get(CHAIN_STATE, [name])
  if (row === undefined) return undefined
  const isChained = integerOrNull(row, 'last_seq') !== null && bytesOrNull(row, 'last_chain') !== null
  return { name, offset: integer(row, 'end_offset'), head: bytesOrNull(row, 'chain_head'), isChained }
}

/** A writer that believes the log to end elsewhere is answered, and not written for. */
const mayStandAt = (at: Position | undefined, offset: number): boolean => at === undefined || 'seq' in at || at.offset === offset

function sizeOf(entries: readonly Uint8Array[]): { readonly bytes: number; readonly entries: number } {
  return { bytes: entries.reduce((sum, entry) => sum + entry.length, 0), entries: entries.length }
}

const EMPTY: Head = {
  id: 0,
  firstSeq: 0,
  firstOffset: 0,
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
  const { bytes } = sizeOf(next.entries)
  const keptBytes = head.offset - head.firstOffset
  const keptEntries = head.seq - head.firstSeq
  if (keptBytes + bytes > head.maxBytes || keptEntries + next.entries.length > head.maxEntries) return { kind: 'full', ...end }
  return { ...write, entries: next.entries, at: at === undefined ? undefined : { seq: head.seq } }
}

/** Under a fence only while it holds: otherwise the log of something that was deleted meanwhile would stay behind. */
async function create(db: Database, { name, fence, now }: Write, maxBytes: number): Promise<void> {
  const values = [name, maxBytes, DEFAULT_LOG_MAX_ENTRIES]
  if (fence === undefined) await db.run(CREATE, values)
  else await db.run(CREATE_FENCED, [...values, ...fenceValues(fence, now)])
}

async function checkFence(db: Database, fence: LeaseFence, now: number): Promise<void> {
  const held = await db.get(CHECK, fenceValues(fence, now))
  if (held === undefined) throw new LeaseLost(fence)
}

async function place(db: Database, write: Write): Promise<Placed | undefined> {
  const { entries, chained, also } = write
  const isOne = db.engine === 'postgres' || (entries.length === 1 && chained === undefined)
  if (isOne && also === undefined) return placeIn(db, write, db.engine)
  return db.transaction(async (tx) => {
    const placed = await placeIn(tx, write, db.engine)
    if (placed === undefined) return undefined
    if (db.engine === 'sqlite' && chained !== undefined) await tx.run(SET_CHAIN_HEAD, [write.name, chained.head])
    await also?.(tx)
    return placed
  })
}

const placeIn = (queries: Queries, write: Write, engine: Database['engine']): Promise<Placed | undefined> =>
  engine === 'postgres' ? placeAll(queries, write) : placeEach(queries, write)

/** SQLite: one statement per entry. The first carries the conditions of all, so either none or every one is written. */
async function placeEach(queries: Queries, write: Write): Promise<Placed | undefined> {
  const { chained } = write
  const statement = appendOne(kindOf(write))
  let { bytes: size, entries: count } = sizeOf(write.entries)
  let row: Row | undefined
  for (const [index, entry] of write.entries.entries()) {
    const expected = row === undefined ? expectation(write) : [null, null]
    const values: Value[] = [write.name, write.now, entry, entry.length, size, count, ...expected]
    if (chained !== undefined) values.push(chained.chains[index] ?? null, chained.before.head)
    row = await queries.get(statement, [...values, ...fenceOf(write)])
    if (row === undefined) return undefined
    size -= entry.length
    count -= 1
  }
  return toPlaced(row, write)
}

/** PostgreSQL: one statement and one round trip for all. */
async function placeAll(queries: Queries, write: Write): Promise<Placed | undefined> {
  const { chained } = write
  const values: Value[] = [write.name, write.now, ...joined(write.entries), ...expectation(write)]
  if (chained !== undefined) values.push(...joined(chained.chains), chained.head, chained.before.head)
  return toPlaced(await queries.get(appendAll(kindOf(write)), [...values, ...fenceOf(write)]), write)
}

/** All of them one after the other, where each starts, and where it ends. */
function joined(pieces: readonly Uint8Array[]): readonly [bytes: Uint8Array, starts: number[], ends: number[]] {
  const ends: number[] = []
  for (const piece of pieces) ends.push((ends.at(-1) ?? 0) + piece.length)
  const [only] = pieces
  return [only !== undefined && ends.length === 1 ? only : Buffer.concat(pieces), [0, ...ends.slice(0, -1)], ends]
}

const kindOf = ({ chained, fence }: Write) => ({ chained: chained !== undefined, fenced: fence !== undefined })
const fenceOf = ({ fence, now }: Write): readonly Value[] => (fence === undefined ? [] : fenceValues(fence, now))

/** What is chained was chained for one place. */
function expectation({ at, chained }: Write): readonly (number | null)[] {
  const offset = chained === undefined ? null : chained.before.offset
  if (at === undefined) return [offset, null]
  return 'offset' in at ? [at.offset, null] : [offset, at.seq]
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
