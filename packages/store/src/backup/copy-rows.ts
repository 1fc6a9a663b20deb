import type { Queries, Row, Value } from '../database/database.ts'
import { postgresFailure } from '../database/postgres-failure.ts'
import { StoreUnavailable } from '../errors.ts'
import { TABLES, type Table } from './tables.ts'

/** Rows are copied in steps that grow while they are light and shrink when they are heavy. */
const MAX_STEP_ROWS = 500
const STEP_BYTES = 4 * 1024 * 1024

/** Copies every table in order. The caller sees to it that both sides stand still. */
export async function copyRows(from: Queries, to: Queries): Promise<void> {
  for (const table of TABLES) await copyTable(from, to, table)
}

/** Whether no table has a row. */
export async function isEmpty(queries: Queries): Promise<boolean> {
  for (const { name } of TABLES) if ((await queries.get(`SELECT 1 AS one FROM ${name} LIMIT 1`, [])) !== undefined) return false
  return true
}

async function copyTable(from: Queries, to: Queries, table: Table): Promise<void> {
  const insert = `INSERT INTO ${table.name} (${table.columns.join(', ')}) VALUES (${table.columns.map((_, index) => `$${index + 1}`).join(', ')})`
  let step = 1
  let last: Row | undefined
  for (;;) {
    const rows = await nextRows(from, table, last, step).catch((error: unknown) => refuse(table, error))
    let size = 0
    for (const row of rows) {
      const values = table.columns.map((column) => toValue(row[column]))
      await to.run(insert, values).catch((error: unknown) => refuse(table, error))
      for (const value of values) if (value instanceof Uint8Array || typeof value === 'string') size += value.length
    }
    last = rows.at(-1)
    if (last === undefined) return
    step = size > STEP_BYTES ? Math.max(1, step >> 1) : Math.min(MAX_STEP_ROWS, step * 2)
  }
}

function nextRows(from: Queries, table: Table, last: Row | undefined, limit: number): Promise<readonly Row[]> {
  const columns = table.columns.join(', ')
  const key = table.key.join(', ')
  if (last === undefined) return from.all(`SELECT ${columns} FROM ${table.name} ORDER BY ${key} LIMIT $1`, [limit])
  const after = table.key.map((_, index) => `$${index + 2}`).join(', ')
  const text = `SELECT ${columns} FROM ${table.name} WHERE (${key}) > (${after}) ORDER BY ${key} LIMIT $1`
  return from.all(text, [limit, ...table.key.map((column) => toValue(last[column]))])
}

/** A value that this engine does not keep, or a row that another one stands in the way of. A database that is away is neither. */
function refuse({ name }: Table, cause: unknown): never {
  if (postgresFailure(cause) instanceof StoreUnavailable) throw cause
  throw new RowRefused(name, cause)
}

/** A row that cannot be taken over. */
export class RowRefused extends Error {
  constructor(table: string, cause: unknown) {
    super(`a row of ${table} cannot be taken over: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'RowRefused'
  }
}

function toValue(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return value
  throw new TypeError(`a column holds a ${typeof value}`)
}
