import { DatabaseSync } from 'node:sqlite'
import { type Queries, NotAStore, SchemaTooNew, SqliteDatabase, integer, text, textOrNull } from '@parley/database'
import { MAX_LEASES } from '../lease/fence.ts'
import { MAX_APPEND_BYTES } from '../limits.ts'
import { MIGRATIONS, migrate } from '@parley/schema'
import { checkReadable } from './check-readable.ts'
import { checkDue, checkFences, checkValues, shown } from './check-values.ts'
import { TABLES } from './tables.ts'

/** No value that this version or an earlier one wrote is larger: the longest are entries of logs and the inputs of a job. */
const MAX_VALUE_BYTES = 4 * MAX_APPEND_BYTES
/** A number that was given last is below this, or the next ones would soon be none that JavaScript counts exactly. */
const MAX_COUNTER = 2 ** 52
/** The tables that SQLite counts for, the column it counts, and what the number that was given last may be. */
const COUNTED: ReadonlyMap<string, { readonly column: string; readonly most: number }> = new Map([
  ['logs', { column: 'id', most: MAX_COUNTER }],
  ['leases', { column: 'id', most: MAX_LEASES }],
  ['audit_entries', { column: 'seq', most: MAX_COUNTER }],
])
const STEPS = 'schema_migrations'

/**
 * Throws `NotAStore` unless a file holds what our migrations make, and nothing beside it. Whoever made the file may have put
 * anything into it: a trigger, a view in place of a table or an index over an expression would run in our name. So this comes
 * before anything of it is read but its list of parts, and whatever is not known is refused by name.
 */
export async function checkSchema(copy: Queries, file: string): Promise<void> {
  const found = await partsOf(copy)
  const steps = (await partsMadeBy(0)).get(`table ${STEPS}`)
  // Before it is read: only a table of ours says which of our versions made the file.
  if (steps === undefined || found.get(`table ${STEPS}`) !== steps) throw new NotAStore(file, 'is no backup')
  const ours = await partsMadeBy(await checkedVersion(copy, file))
  for (const [part, sql] of found) {
    if (!ours.has(part)) throw new NotAStore(file, `is no backup as Parley makes them: it holds the ${shown(part)}`)
    if (ours.get(part) !== sql) throw new NotAStore(file, `is no backup as Parley makes them: the ${shown(part)} is another`)
  }
  for (const part of ours.keys())
    if (!found.has(part)) throw new NotAStore(file, `is no backup as Parley makes them: it lacks the ${shown(part)}`)
}

/** Throws `NotAStore` where rows hold what we never write, in a file whose schema is that of this version. */
export async function checkRows(copy: Queries, file: string, now: number): Promise<void> {
  for (const { name, columns } of TABLES) {
    const isLarge = columns.map((column) => `octet_length(${column}) > $1`)
    const first = columns.map((column, index) => `WHEN ${isLarge[index]} THEN '${column}'`).join(' ')
    const found = await copy.get(`SELECT CASE ${first} END AS at FROM ${name} WHERE ${isLarge.join(' OR ')} LIMIT 1`, [
      MAX_VALUE_BYTES,
    ])
    if (found !== undefined)
      throw new NotAStore(file, `holds a value of more than ${MAX_VALUE_BYTES} bytes in ${name}.${text(found, 'at')}`)
  }
  await checkValues(copy, file)
  await checkDue(copy, file, now)
  await checkCounters(copy, file)
  await checkFences(copy, file)
  await checkReadable(copy, file)
}

/** Numbers go on after the last one: after one that is too small some would be given twice, after one that is too large none. */
async function checkCounters(copy: Queries, file: string): Promise<void> {
  const rows = await copy.all(SEQUENCE, [])
  for (const row of rows) {
    const name = textOrNull(row, 'name') ?? ''
    if (!COUNTED.has(name)) throw new NotAStore(file, `counts for ${shown(name)}, which no backup does`)
  }
  for (const [name, { column, most }] of COUNTED) {
    const last = await copy.get(`SELECT coalesce(max(${column}), 0) AS last FROM ${name}`, [])
    const least = last === undefined ? 0 : integer(last, 'last')
    const given = rows.filter((row) => textOrNull(row, 'name') === name)
    const [{ seq, kind } = NOTHING_GIVEN] = given
    // One that came from PostgreSQL may stand there as a fraction without any.
    const isNumber = (kind === 'integer' || kind === 'real') && Number.isSafeInteger(seq)
    const isFit = isNumber && typeof seq === 'number' && seq >= least && seq <= most
    if (given.length > 1 || !isFit) throw new NotAStore(file, `has a number for ${name} that cannot be gone on from`)
  }
}
/** Anybody can write there what they like. As REAL it is a number here, however large. */
const SEQUENCE =
  'SELECT CAST(name AS TEXT) AS name, coalesce(CAST(seq AS REAL), -1) AS seq, typeof(seq) AS kind FROM sqlite_sequence'
const NOTHING_GIVEN = { kind: 'integer', seq: 0 }

/** Which of our migrations made the file: they stand there by number and name, one after the other. */
async function checkedVersion(copy: Queries, file: string): Promise<number> {
  const rows = await copy.all(`SELECT version, name FROM ${STEPS} ORDER BY version LIMIT $1`, [MIGRATIONS.length + 1])
  if (rows.length > MIGRATIONS.length) throw new SchemaTooNew(integer(rows.at(-1) ?? {}, 'version'), MIGRATIONS.length)
  for (const [index, row] of rows.entries()) {
    const step = MIGRATIONS[index]
    if (step === undefined || integer(row, 'version') !== step.version || text(row, 'name') !== step.name)
      throw new NotAStore(file, `is no backup: step ${index + 1} of its schema is none of ours`)
  }
  if (rows.length === 0) throw new NotAStore(file, 'is no backup: no step of its schema is ours')
  return rows.length
}

/** What a new file has after so many migrations. */
async function partsMadeBy(version: number): Promise<ReadonlyMap<string, string | null>> {
  const made = new SqliteDatabase(new DatabaseSync(':memory:'), ':memory:')
  try {
    await migrate(made, () => 0, MIGRATIONS.slice(0, version))
    return await partsOf(made)
  } finally {
    await made.close()
  }
}

/** Tables, indexes and whatever else there is, each with the statement that made it; the white space in it says nothing. */
async function partsOf(queries: Queries): Promise<ReadonlyMap<string, string | null>> {
  const rows = await queries.all('SELECT type, name, tbl_name, sql FROM sqlite_schema', [])
  return new Map(
    rows.map((row) => {
      const [type, name, table] = [text(row, 'type'), text(row, 'name'), text(row, 'tbl_name')]
      const sql = textOrNull(row, 'sql')
      return [`${type} ${name}${name === table ? '' : ` on ${table}`}`, sql === null ? null : sql.replaceAll(/\s+/g, ' ').trim()]
    }),
  )
}
