import { type Database, type Transaction, bytes, bytesOrNull, integer, integerOrNull } from '@parley/database'
import type { LogChain } from './chain.ts'
import { type Head, logSignal, toHead } from './head.ts'
import { CHAIN_STATE, CHAIN_UP_TO, DROP_UP_TO, END_OF, LAST_OLD, LOCK_LOG, SEQ_AT_OFFSET, SET_FIRST } from './statements.ts'

/** When a log is full, this part of it goes beyond what is needed, so that not every append has to make room. */
const SPARE_PART = 64
/** Old entries that go in one commit. */
const TRIM_ENTRIES = 2_000

/** What is to fit. */
interface Needed {
  readonly bytes: number
  readonly entries: number
}

/** Lets go of the oldest entries until there is room, in one commit with what is kept of the chain. False: there never will be. */
export function makeRoom(db: Database, name: string, needed: Needed, chain: LogChain | undefined): Promise<boolean> {
  return db.transaction(async (tx) => {
    const log = await lockLog(tx, name)
    if (log === undefined || needed.bytes > log.maxBytes || needed.entries > log.maxEntries) return false
    const last = await lastToGo(tx, log, needed)
    if (last !== undefined) await dropUpTo(tx, log, last, chain)
    return true
  })
}

/** Lets go of a part of the entries from before a time. Answers how many went; fewer than the most say that none is left. */
export async function trimOld(
  db: Database,
  name: string,
  before: number,
  chain: LogChain | undefined,
): Promise<{ readonly entries: number; readonly isDone: boolean }> {
  return db.transaction(async (tx) => {
    const log = await lockLog(tx, name)
    const row = log === undefined ? undefined : await tx.get(LAST_OLD, [log.id, log.firstSeq + TRIM_ENTRIES, before])
    if (log === undefined || row === undefined) return { entries: 0, isDone: true }
    const last = { seq: integer(row, 'seq'), offset: integer(row, 'end_offset') }
    await dropUpTo(tx, log, last, chain)
    const entries = last.seq + 1 - log.firstSeq
    return { entries, isDone: entries < TRIM_ENTRIES }
  })
}

interface LockedLog extends Head {
  readonly name: string
  readonly chainHead: Uint8Array | null
}

/** First its row: what is read after that stays as it is until the commit. */
async function lockLog(tx: Transaction, name: string): Promise<LockedLog | undefined> {
  if ((await tx.get(LOCK_LOG, [name])) === undefined) return undefined
  const row = await tx.get(CHAIN_STATE, [name])
  if (row === undefined || integerOrNull(row, 'last_seq') === null) return undefined
  return { ...toHead(row), name, chainHead: bytesOrNull(row, 'chain_head') }
}

/** The last entry that has to go, and where it ends. `undefined`: there is room. */
async function lastToGo(
  tx: Transaction,
  log: LockedLog,
  { bytes: size, entries }: Needed,
): Promise<{ readonly seq: number; readonly offset: number } | undefined> {
  const { id, firstSeq, firstOffset, seq, offset, maxBytes, maxEntries } = log
  if (offset - firstOffset + size <= maxBytes && seq - firstSeq + entries <= maxEntries) return undefined
  const keptBytes = Math.max(0, maxBytes - size - Math.floor(maxBytes / SPARE_PART))
  const keptEntries = Math.max(0, maxEntries - entries - Math.floor(maxEntries / SPARE_PART))
  const cut = offset - keptBytes
  const found = cut <= firstOffset || cut >= offset ? undefined : await tx.get(SEQ_AT_OFFSET, [id, cut, firstSeq, seq])
  const byBytes = found === undefined ? (cut >= offset ? seq - 1 : firstSeq) : integer(found, 'seq')
  const last = Math.min(seq - 1, Math.max(firstSeq, byBytes, seq - keptEntries - 1))
  const row = await tx.get(END_OF, [id, last])
  return row === undefined ? undefined : { seq: last, offset: integer(row, 'end_offset') }
}

async function dropUpTo(
  tx: Transaction,
  log: LockedLog,
  { seq, offset }: { readonly seq: number; readonly offset: number },
  chain: LogChain | undefined,
): Promise<void> {
  const chained = await tx.get(CHAIN_UP_TO, [log.id, seq])
  const gone = { offset, chain: chained === undefined ? null : bytes(chained, 'chain') }
  const head = chain === undefined ? log.chainHead : chain.trim({ name: log.name, head: log.chainHead }, gone)
  await tx.run(DROP_UP_TO, [log.id, seq])
  await tx.run(SET_FIRST, [log.id, seq + 1, offset, head])
  tx.signal(logSignal(log.name))
}
