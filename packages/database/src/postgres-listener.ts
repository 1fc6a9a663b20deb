import { Client, type ClientConfig } from 'pg'
import type { Signals } from './signals.ts'

export const CHANNEL = 'parley'
export const NOTIFY_ALL = `SELECT pg_notify('${CHANNEL}', name) FROM unnest(CAST($1 AS TEXT[])) AS name`
/** Its name among the connections of the server, for whoever looks at `pg_stat_activity`. */
const LISTENER_NAME = 'parley listener'
/** Stands for every name. */
const EVERYTHING = '*'
/** Names that wait to be told; past that everybody is told that anything may have changed. */
const MAX_UNTOLD = 10_000
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 5_000
/** How often the connection is asked something: an answer says that everything told before the question was heard. */
const BEAT_MS = 200
/** How old the newest answered question may be. Beyond that what others changed may be unknown here. */
const HEARING_MS = 700
/** A connection that answers nothing for this long is given up for a new one. */
const BEAT_TIMEOUT_MS = 2_000
/** What is told may wait for the server as long as any statement. */
const TELL_TIMEOUT_MS = 5_000

/**
 * One connection that listens. Leases and records are signalled inside their transactions. Appends to logs are told here after
 * their commit: a NOTIFY inside the writing transaction would make all writers of the database wait for each other's disk. What a
 * process that died had not told is found by `Tails`, which looks at all followed logs every few seconds. While the connection is
 * down names are lost, so after every reconnect everybody is woken. It tries again for as long as it is open: the store is useless
 * without it, and the wait between tries is bounded.
 */
export class PostgresListener {
  readonly #config: ClientConfig
  readonly #signals: Signals
  #client: Client | undefined
  #retry: NodeJS.Timeout | undefined
  /** A connection that is being made again. It does not outlive `close`. */
  #connecting: Promise<void> | undefined
  #beats: NodeJS.Timeout | undefined
  /** The client whose answer to the last beat is still out. */
  #beating: Client | undefined
  /** When the newest question that was answered was asked, by this process' own steady clock. */
  #heardAt = -Infinity
  #closed = false
  #untold = new Set<string>()
  #telling: Promise<void> | undefined

  constructor(config: ClientConfig, signals: Signals) {
    this.#config = { ...config, application_name: LISTENER_NAME, query_timeout: TELL_TIMEOUT_MS }
    this.#signals = signals
  }

  /** The first connection must stand: a store that cannot hear is not opened. */
  async open(): Promise<void> {
    await this.#connect()
    await this.#beat()
    this.#beats = setInterval(() => void this.#beat(), BEAT_MS)
    this.#beats.unref()
  }

  /** Whether everything that was told a moment ago has been heard here: no connection, or one that hangs, hears nothing. */
  hears(): boolean {
    return performance.now() - this.#heardAt <= HEARING_MS
  }

  /** Tells all other processes, many names at a time. What cannot be told now is told after the next reconnect. */
  tell(name: string): void {
    if (this.#untold.size < MAX_UNTOLD) this.#untold.add(name)
    else this.#untold = new Set([EVERYTHING])
    this.#tellSoon()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#beats)
    clearTimeout(this.#retry)
    await this.#telling
    await this.#connecting
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config)
    let own: number | undefined
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ payload, processId }) => {
      // Whatever this process told was heard here before.
      if (payload === undefined || processId === own) return
      if (payload === EVERYTHING) this.#signals.emitAll()
      else this.#signals.emit(payload)
    })
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      own = rows[0]?.pid
      // What is told here is committed elsewhere; these commits hold nothing that a disk would have to keep.
      await client.query(`SET synchronous_commit = off; LISTEN ${CHANNEL}`)
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
    if (this.#closed) return client.end().catch(() => undefined)
    this.#client = client
  }

  #tellSoon(): void {
    this.#telling ??= this.#tellAll().finally(() => (this.#telling = undefined))
  }

  async #tellAll(): Promise<void> {
    while (this.#untold.size > 0 && this.#client !== undefined) {
      const names = this.#untold
      this.#untold = new Set()
      const client = this.#client
      try {
        await client.query({ name: 'tell', text: NOTIFY_ALL, values: [[...names]] })
      } catch {
        for (const name of names) this.#untold.add(name)
        this.#lost(client)
      }
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    void client.end().catch(() => undefined)
    if (!this.#closed) this.#again(FIRST_RETRY_MS)
  }

  #again(waitMs: number): void {
    this.#retry = setTimeout(() => {
      this.#connecting = this.#connect().then(
        () => {
          if (this.#closed) return
          this.#signals.emitAll()
          this.#tellSoon()
        },
        () => {
          if (!this.#closed) this.#again(Math.min(waitMs * 2, MAX_RETRY_MS))
        },
      )
    }, waitMs)
  }

  async #beat(): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#beating === client) return
    this.#beating = client
    const askedAt = performance.now()
    const late = setTimeout(() => {
      // If it was this process that stood still, the answer lies there and is read before this is looked at.
      setImmediate(() => {
        if (this.#beating === client) this.#lost(client)
      })
    }, BEAT_TIMEOUT_MS)
    try {
      await client.query('SELECT 1')
      if (this.#client === client) this.#heardAt = askedAt
    } catch {
      this.#lost(client)
    } finally {
      clearTimeout(late)
      if (this.#beating === client) this.#beating = undefined
    }
  }
}
