import { messageOf } from '@parley/protocol'
import { type Queries, type Row, type Value, StoreUnavailable, postgresFailure } from '@parley/database'
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
  for await (const row of rowsOf(from, table)) {
    if (table.passing?.has(table.key.map((column) => String(row[column])).join(' ')) === true) continue
    const values = table.columns.map((column) => toValue(row[column]))
    await to.run(insert, values).catch((error: unknown) => refuse(table, error))
  }
}

/** All rows of a table in the order of its key, with `more` columns; no more of them in memory than one step. */
export async function* rowsOf(from: Queries, table: Table, more = ''): AsyncGenerator<Row, void, undefined> {
  let step = 1
  let last: Row | undefined
  for (;;) {
    const rows = await nextRows(from, table, { more, last, limit: step }).catch((error: unknown) => refuse(table, error))
    last = rows.at(-1)
    if (last === undefined) return
    yield* rows
    step = sizeOf(rows) > STEP_BYTES ? Math.max(1, step >> 1) : Math.min(MAX_STEP_ROWS, step * 2)
  }
}

function sizeOf(rows: readonly Row[]): number {
  let size = 0
  for (const row of rows) {
    for (const value of Object.values(row)) if (value instanceof Uint8Array || typeof value === 'string') size += value.length
  }
  return size
}

interface Step {
  readonly more: string
  readonly last: Row | undefined
  readonly limit: number
}

function nextRows(from: Queries, { name, columns, key }: Table, { more, last, limit }: Step): Promise<readonly Row[]> {
  const select = `SELECT ${columns.join(', ')} ${more} FROM ${name}`
  const order = key.join(', ')
  if (last === undefined) return from.all(`${select} ORDER BY ${order} LIMIT $1`, [limit])
  const after = key.map((_, index) => `$${index + 2}`).join(', ')
  const text = `${select} WHERE (${order}) > (${after}) ORDER BY ${order} LIMIT $1`
  return from.all(text, [limit, ...key.map((column) => toValue(last[column]))])
}

/** A value that this engine does not keep, or a row that another one stands in the way of. A database that is away is neither. */
function refuse({ name }: Table, cause: unknown): never {
  if (postgresFailure(cause) instanceof StoreUnavailable) throw cause
  throw new RowRefused(name, cause)
}

/** A row that cannot be taken over. */
export class RowRefused extends Error {
  constructor(table: string, cause: unknown) {
    super(`a row of ${table} cannot be taken over: ${messageOf(cause)}`, { cause })
    this.name = 'RowRefused'
  }
}

function toValue(value: unknown): Value {
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return value
  throw new TypeError(`a column holds a ${typeof value}`)
}
