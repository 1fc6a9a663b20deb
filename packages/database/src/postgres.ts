import { Pool, type PoolClient, type QueryResult, TypeOverrides } from 'pg'
import { StoreUnavailable } from './errors.ts'
import { Signals } from './signals.ts'
import { integer } from './column.ts'
import { type Database, type Row, type Sql, type Transaction, type Value, textFor } from './database.ts'
import { isWorthRepeating, postgresFailure } from './postgres-failure.ts'
import { CHANNEL, NOTIFY_ALL, PostgresListener } from './postgres-listener.ts'

const POOL_SIZE = 10
/** How long a statement waits for a free connection, or a connection for the server. */
const CONNECT_TIMEOUT_MS = 10_000
const STATEMENT_TIMEOUT_MS = 30_000
const IDLE_IN_TRANSACTION_MS = 30_000
const MAX_TRANSACTION_TRIES = 4
const INT8 = 20

/** 64-bit integers fit into numbers here: every one of ours stays below 2^53. */
const INT8_AS_NUMBER = new TypeOverrides()
INT8_AS_NUMBER.setTypeParser(INT8, Number)

/** Connects and starts to listen; throws `StoreUnavailable` when the server does not answer. */
export async function openPostgres(url: string): Promise<PostgresDatabase> {
  const database = new PostgresDatabase(url)
  try {
    await database.open()
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A pool for statements and one connection that listens. */
export class PostgresDatabase implements Database {
  readonly engine = 'postgres'
  readonly signals = new Signals()
  readonly #pool: Pool
  readonly #listener: PostgresListener
  readonly #names = new Map<string, string>()
  readonly #announced = new Map<Sql, string>()
  #closed = false

  constructor(url: string) {
    const config = {
      connectionString: url,
      application_name: 'parley',
      // Every statement here has one good plan; to plan it anew for each call would cost as much as running it.
      options: '-c plan_cache_mode=force_generic_plan',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      types: INT8_AS_NUMBER,
    }
    this.#pool = new Pool({
      ...config,
      max: POOL_SIZE,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    })
    // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
    this.#pool.on('error', () => undefined)
    // The pool itself listens only while a connection is idle. In a transaction the next statement meets what broke.
    this.#pool.on('connect', (client) => void client.on('error', () => undefined))
    this.#listener = new PostgresListener(config, this.signals)
  }

  async open(): Promise<void> {
    await guarded(() => this.#listener.open())
  }

  async get(sql: Sql, values: readonly Value[]): Promise<Row | undefined> {
    const { rows } = await this.#query(textFor(sql, 'postgres'), values)
    return rows[0]
  }

  async all(sql: Sql, values: readonly Value[]): Promise<readonly Row[]> {
    const { rows } = await this.#query(textFor(sql, 'postgres'), values)
    return rows
  }

  async run(sql: Sql, values: readonly Value[]): Promise<number> {
    const { rowCount } = await this.#query(textFor(sql, 'postgres'), values)
    return rowCount ?? 0
  }

  async change(sql: Sql, values: readonly Value[], signal: string): Promise<number> {
    const text =
      this.#announced.get(sql) ?? `${textFor(sql, 'postgres')} RETURNING pg_notify('${CHANNEL}', $${values.length + 1})`
    this.#announced.set(sql, text)
    const { rowCount } = await this.#query(text, [...values, signal])
    return rowCount ?? 0
  }

  async signal(name: string): Promise<void> {
    await this.#query(NOTIFY, [name])
  }

  signalSoon(name: string): void {
    this.signals.emit(name)
    this.#listener.tell(name)
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(BEGIN, work)
      } catch (error) {
        if (attempt === MAX_TRANSACTION_TRIES || !isWorthRepeating(error)) throw postgresFailure(error)
      }
    }
  }

  /** All reads of the work see the database as it was at one moment. */
  async snapshot<T>(work: (queries: Transaction) => Promise<T>): Promise<T> {
    return guarded(() => this.#once('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work))
  }

  hears(): boolean {
    return this.#listener.hears()
  }

  async clock(): Promise<number> {
    const row = await this.get('SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now', [])
    if (row === undefined) throw new StoreUnavailable('PostgreSQL told no time')
    return integer(row, 'now')
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#listener.close()
    await this.#pool.end()
  }

  async #once<T>(begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await guarded(() => this.#pool.connect())
    const signals = new Set<string>()
    let isBroken = false
    try {
      await client.query(begin)
      const result = await work({
        get: async (sql, values) => (await this.#on(client, sql, values)).rows[0],
        all: async (sql, values) => (await this.#on(client, sql, values)).rows,
        run: async (sql, values) => (await this.#on(client, sql, values)).rowCount ?? 0,
        signal: (name) => signals.add(name),
      })
      if (signals.size > 0) await this.#on(client, NOTIFY_ALL, [[...signals]])
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch(() => (isBroken = true))
      throw error
    } finally {
      client.release(isBroken)
    }
  }

  #on(client: PoolClient, sql: Sql, values: readonly Value[]): Promise<QueryResult<Row>> {
    const text = textFor(sql, 'postgres')
    return client.query<Row, Value[]>({ name: this.#name(text), text, values: [...values] })
  }

  #query(text: string, values: readonly Value[]): Promise<QueryResult<Row>> {
    return guarded(() => this.#pool.query<Row, Value[]>({ name: this.#name(text), text, values: [...values] }))
  }

  /** Named statements are parsed once per connection. The texts are constants, so there are few. */
  #name(text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const name = `p${this.#names.size}`
    this.#names.set(text, name)
    return name
  }
}

/**
 * Said each time, since a server, a role or an address can set another default: a snapshot of the whole transaction is taken before
 * its lock is waited for, and does not show what those wrote who had the lock before.
 */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'
const NOTIFY = `SELECT pg_notify('${CHANNEL}', $1)`

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw postgresFailure(error)
  }
}
