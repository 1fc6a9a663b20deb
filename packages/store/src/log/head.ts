import { type Queries, type Row, flag, integer } from '@parley/database'
import { HEAD } from './statements.ts'

/** Where a log ends, and what may still be added. `id` tells a log from a later one of the same name. */
export interface Head {
  readonly id: number
  /** Where it begins: what was before is gone. */
  readonly firstSeq: number
  readonly firstOffset: number
  readonly seq: number
  readonly offset: number
  readonly closed: boolean
  readonly maxBytes: number
  readonly maxEntries: number
}

export async function findHead(queries: Queries, name: string): Promise<Head | undefined> {
  const row = await queries.get(HEAD, [name])
  return row === undefined ? undefined : toHead(row)
}

export function toHead(row: Row): Head {
  return {
    id: integer(row, 'id'),
    firstSeq: integer(row, 'first_seq'),
    firstOffset: integer(row, 'first_offset'),
    seq: integer(row, 'seq'),
    offset: integer(row, 'end_offset'),
    closed: flag(row, 'closed'),
    maxBytes: integer(row, 'max_bytes'),
    maxEntries: integer(row, 'max_entries'),
  }
}

/** The signal of a log's readers. */
export const logSignal = (name: string): string => `log/${name}`
