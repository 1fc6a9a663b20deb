import { statfs } from 'node:fs/promises'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { NotAStore, StoreUnavailable } from './errors.ts'
import { Signals } from './signals.ts'
import { type Database, type Row, type Sql, type Transaction, type Value, textFor } from './database.ts'
import { makePrivate } from './private-file.ts'
import { sqliteFailure, sqliteFault } from './sqlite-failure.ts'

/** Only a backup's reader can be in the way, and only for a checkpoint. */
const BUSY_TIMEOUT_MS = 5_000
/** Past this the write-ahead log is cut back after a checkpoint. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024

/** With less room than this on its disk the next job or upload will not fit. */
const LEAST_ROOM_BYTES = 1024 * 1024

export type Synchronous = 'normal' | 'full'

/** Marks a file as ours ("Parl"), so that a wrong path never adds tables to somebody else's database. */
const APPLICATION_ID = 0x5061726c

/** Opens the file in WAL mode. The caller owns it: see `lockFile`. */
export function openSqlite(path: string, synchronous: Synchronous): SqliteDatabase {
  let connection: DatabaseSync | undefined
  try {
    makePrivate(path)
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous === 'full' ? 'FULL' : 'NORMAL'};
      PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}; PRAGMA trusted_schema = OFF`)
    claimFile(connection, path)
    return new SqliteDatabase(connection, path)
  } catch (error) {
    connection?.close()
    throw sqliteFailure(error, path)
  }
}

function claimFile(connection: DatabaseSync, path: string): void {
  const id = connection.prepare('PRAGMA application_id').get()?.['application_id']
  if (id === APPLICATION_ID) return
  const isEmpty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  if (id !== 0 || !isEmpty) throw new NotAStore(path, 'is a database of another program')
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
}

/**
 * One connection, one process. Statements run at once; while a transaction is open all others wait for their turn,
 * because they would otherwise become part of it.
 */
export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly signals = new Signals()
  readonly #connection: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #path: string
  #turn: Promise<void> | undefined
  /** Whether the last write found no room. Reads still succeed then, so `checkWritable` looks at this too. */
  #isFull = false

  constructor(connection: DatabaseSync, path: string) {
    this.#connection = connection
    this.#path = path
  }

  async get(sql: Sql, values: readonly Value[]): Promise<Row | undefined> {
    while (this.#turn !== undefined) await this.#turn
    return this.#get(sql, values)
  }

  async all(sql: Sql, values: readonly Value[]): Promise<readonly Row[]> {
    while (this.#turn !== undefined) await this.#turn
    return this.#all(sql, values)
  }

  async run(sql: Sql, values: readonly Value[]): Promise<number> {
    while (this.#turn !== undefined) await this.#turn
    return this.#run(sql, values)
  }

  async change(sql: Sql, values: readonly Value[], signal: string): Promise<number> {
    while (this.#turn !== undefined) await this.#turn
    const changes = this.#run(sql, values)
    if (changes > 0) this.signals.emit(signal)
    return changes
  }

  async signal(name: string): Promise<void> {
    this.signals.emit(name)
  }

  signalSoon(name: string): void {
    this.signals.emit(name)
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    while (this.#turn !== undefined) await this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    const signals = new Set<string>()
    try {
      this.exec('BEGIN IMMEDIATE')
      const result = await this.#work(work, signals)
      this.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#connection.isOpen && this.#connection.isTransaction) this.exec('ROLLBACK')
      signals.clear()
      throw error
    } finally {
      this.#turn = undefined
      resolve()
      for (const name of signals) this.signals.emit(name)
    }
  }

  /** Always: whatever is signalled about a file is signalled by this process. */
  hears(): boolean {
    return true
  }

  async clock(): Promise<number> {
    await this.get('SELECT 1 AS one', [])
    return Date.now()
  }

  /** Throws `StoreUnavailable` when nothing can be read, or nothing more can be written. */
  async checkWritable(): Promise<void> {
    await this.get('SELECT 1 AS one', [])
    const { bavail, bfree, bsize } = await statfs(this.#path)
    const left = (process.getuid?.() === 0 ? bfree : bavail) * bsize
    if (this.#isFull || left < LEAST_ROOM_BYTES) throw sqliteFault('full', this.#path)
  }

  /** Runs statements that are not worth keeping prepared. */
  exec(text: string): void {
    try {
      this.#connection.exec(text)
    } catch (error) {
      throw this.#failed(error)
    }
  }

  async close(): Promise<void> {
    while (this.#turn !== undefined) await this.#turn
    if (this.#connection.isOpen) this.#connection.close()
  }

  #work<T>(work: (tx: Transaction) => Promise<T>, signals: Set<string>): Promise<T> {
    return work({
      get: async (sql, values) => this.#get(sql, values),
      all: async (sql, values) => this.#all(sql, values),
      run: async (sql, values) => this.#run(sql, values),
      signal: (name) => signals.add(name),
    })
  }

  #get(sql: Sql, values: readonly Value[]): Row | undefined {
    try {
      return this.#statement(sql).get(...plain(values))
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #all(sql: Sql, values: readonly Value[]): readonly Row[] {
    try {
      return this.#statement(sql).all(...plain(values))
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #run(sql: Sql, values: readonly Value[]): number {
    try {
      const changes = Number(this.#statement(sql).run(...plain(values)).changes)
      if (changes > 0) this.#isFull = false
      return changes
    } catch (error) {
      throw this.#failed(error)
    }
  }

  #failed(error: unknown): unknown {
    const failure = sqliteFailure(error, this.#path)
    if (failure instanceof StoreUnavailable && failure.fault === 'full') this.#isFull = true
    return failure
  }

  #statement(sql: Sql): StatementSync {
    // By its text: a statement that is put together for each call must not be kept anew each time.
    const text = textFor(sql, 'sqlite')
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    // SQLite takes `$1` for a name; `?1` is its spelling of the first parameter.
    const statement = this.#connection.prepare(text.replaceAll(/\$(\d+)/g, '?$1'))
    this.#statements.set(text, statement)
    return statement
  }
}

const isPlain = (value: Value): value is SQLInputValue & Value =>
  typeof value !== 'object' || value === null || value instanceof Uint8Array

function plain(values: readonly Value[]): SQLInputValue[] {
  return values.map((value) => {
    if (isPlain(value)) return value
    throw new TypeError('SQLite takes no arrays')
  })
}
