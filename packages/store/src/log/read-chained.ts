import { type Queries, type Row, bytes, bytesOrNull, integer, integerOrNull } from '@parley/database'
import { MAX_PAGE_ENTRIES } from '../limits.ts'
import type { ChainedEntry, ChainedLog } from './chain.ts'
import { CHAINED_PAGE, CHAIN_STATE } from './statements.ts'

/** In one statement, so that an append at the same time is in all of it or in none. */
export async function readChained(queries: Queries, name: string): Promise<ChainedLog | undefined> {
  const row = await queries.get(CHAIN_STATE, [name])
  if (row === undefined) return undefined
  const last = integerOrNull(row, 'last_seq')
  return {
    head: bytesOrNull(row, 'chain_head'),
    first: { seq: integer(row, 'first_seq'), offset: integer(row, 'first_offset') },
    end: { seq: integer(row, 'seq'), offset: integer(row, 'end_offset') },
    last: last === null ? null : { seq: last + 1, offset: integer(row, 'last_end') },
  }
}

export async function readChainedEntries(
  queries: Queries,
  name: string,
  { seq, lastByte }: { readonly seq: number; readonly lastByte: number },
): Promise<readonly ChainedEntry[]> {
  return (await queries.all(CHAINED_PAGE, [name, seq, lastByte, MAX_PAGE_ENTRIES])).map(toEntry)
}

function toEntry(row: Row): ChainedEntry {
  return {
    seq: integer(row, 'seq'),
    offset: integer(row, 'end_offset'),
    at: integer(row, 'at'),
    bytes: bytes(row, 'bytes'),
    chain: bytesOrNull(row, 'chain'),
  }
}
