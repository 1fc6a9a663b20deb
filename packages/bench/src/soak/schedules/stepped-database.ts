import { type Database, type Row, type Sql, type Transaction, type Value, Signals } from '@parley/database'
import type { Actor, Steps } from './steps.ts'

export interface DatabaseSteps {
  /** Called after each transaction: every step of an approval is one. */
  readonly committed: () => void
  readonly isFine: boolean
}

/**
 * The one database as one gateway has it. Each write is a step, and where it is fine each read, so others come in between, and the gateway may
 * die there. What is signalled arrives by a step of its own.
 */
export class SteppedDatabase implements Database {
  readonly engine = 'sqlite'
  readonly signals = new Signals()
  readonly #shared: Database
  readonly #steps: Steps
  readonly #actor: Actor
  readonly #committed: () => void
  readonly #isFine: boolean
  readonly #off: () => void
  #told = new Set<string>()

  constructor(shared: Database, steps: Steps, actor: Actor, { committed, isFine }: DatabaseSteps) {
    this.#committed = committed
    this.#isFine = isFine
    this.#shared = shared
    this.#steps = steps
    this.#actor = actor
    this.#off = shared.signals.onAny((name) => {
      if (name !== undefined) this.#hear(name)
    })
  }

  get(sql: Sql, values: readonly Value[]): Promise<Row | undefined> {
    return this.#isFine ? this.#step(sql, () => this.#shared.get(sql, values)) : this.#shared.get(sql, values)
  }

  all(sql: Sql, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#isFine ? this.#step(sql, () => this.#shared.all(sql, values)) : this.#shared.all(sql, values)
  }

  run(sql: Sql, values: readonly Value[]): Promise<number> {
    return this.#step(sql, () => this.#shared.run(sql, values))
  }

  change(sql: Sql, values: readonly Value[], signal: string): Promise<number> {
    return this.#step(sql, () => this.#shared.change(sql, values, signal))
  }

  signal(name: string): Promise<void> {
    return this.#step(`signal ${name}`, () => this.#shared.signal(name))
  }

  signalSoon(name: string): void {
    this.#shared.signalSoon(name)
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#step('transaction', async () => {
      const answer = await this.#shared.transaction(work)
      this.#committed()
      return answer
    })
  }

  hears(): boolean {
    return true
  }

  clock(): Promise<number> {
    return Promise.resolve(this.#steps.now)
  }

  /** The gateway is gone, the database is not. */
  close(): Promise<void> {
    this.#off()
    return Promise.resolve()
  }

  async #step<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
    await this.#steps.turn(this.#actor, `${this.#actor.name}: ${labelOf(sql)}`)
    return work()
  }

  #hear(name: string): void {
    if (this.#told.size === 0)
      this.#steps.push(this.#actor, `${this.#actor.name} hears what changed`, () => {
        const told = this.#told
        this.#told = new Set()
        for (const each of told) this.signals.emit(each)
      })
    this.#told.add(name)
  }
}

const LABEL_CHARS = 60

function labelOf(sql: Sql): string {
  const text = typeof sql === 'string' ? sql : sql.sqlite
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, LABEL_CHARS)
}
