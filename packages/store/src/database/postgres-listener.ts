import { Client, type ClientConfig } from 'pg'
import type { Signals } from '../signal/signals.ts'

export const CHANNEL = 'parley'
export const NOTIFY_ALL = `SELECT pg_notify('${CHANNEL}', name) FROM unnest(CAST($1 AS TEXT[])) AS name`
/** Stands for every name. */
const EVERYTHING = '*'
/** Names that wait to be told; past that everybody is told that anything may have changed. */
const MAX_UNTOLD = 10_000
const FIRST_RETRY_MS = 50
const MAX_RETRY_MS = 5_000
/** A connection that died without a word is found by asking it something. */
const PROBE_MS = 15_000
const PROBE_TIMEOUT_MS = 5_000

/**
 * One connection that listens, and tells others what is committed already: a NOTIFY inside the writing transaction
 * would make all writers of the database wait for each other's disk. While it is down names are lost, so after every
 * reconnect everybody is woken. It tries again for as long as it is open: the store is useless without it, and the wait
 * between tries is bounded.
 */
export class PostgresListener {
  readonly #config: ClientConfig
  readonly #signals: Signals
  #client: Client | undefined
  #retry: NodeJS.Timeout | undefined
  /** A connection that is being made again. It does not outlive `close`. */
  #connecting: Promise<void> | undefined
  #probe: NodeJS.Timeout | undefined
  #closed = false
  #untold = new Set<string>()
  #telling: Promise<void> | undefined

  constructor(config: ClientConfig, signals: Signals) {
    this.#config = { ...config, query_timeout: PROBE_TIMEOUT_MS }
    this.#signals = signals
  }

  /** The first connection must stand: a store that cannot hear is not opened. */
  async open(): Promise<void> {
    await this.#connect()
    this.#probe = setInterval(() => void this.#ask(), PROBE_MS)
    this.#probe.unref()
  }

  /** Tells all other processes, many names at a time. What cannot be told now is told after the next reconnect. */
  tell(name: string): void {
    if (this.#untold.size < MAX_UNTOLD) this.#untold.add(name)
    else this.#untold = new Set([EVERYTHING])
    this.#tellSoon()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#probe)
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

  async #ask(): Promise<void> {
    const client = this.#client
    if (client === undefined) return
    await client.query('SELECT 1').catch(() => this.#lost(client))
  }
}
