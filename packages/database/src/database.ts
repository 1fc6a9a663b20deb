import type { Signals } from './signals.ts'

/** What a parameter may be. Arrays are for PostgreSQL alone. */
export type Value = string | number | Uint8Array | null | readonly number[] | readonly string[]
export type Row = Readonly<Record<string, unknown>>

/** A statement with `$1`-style parameters: one text for both engines, or one for each where they differ. */
export type Sql = string | { readonly sqlite: string; readonly postgres: string }

export interface Queries {
  get(sql: Sql, values: readonly Value[]): Promise<Row | undefined>
  all(sql: Sql, values: readonly Value[]): Promise<readonly Row[]>
  /** Answers how many rows were changed. */
  run(sql: Sql, values: readonly Value[]): Promise<number>
}

export interface Transaction extends Queries {
  /** Tells every process after the commit, and nobody after a rollback. */
  signal(name: string): void
}

/** The one place that knows the dialect. */
export interface Database extends Queries {
  readonly engine: 'sqlite' | 'postgres'
  /** What was signalled anywhere arrives here. */
  readonly signals: Signals
  /** Runs an INSERT, UPDATE or DELETE without RETURNING; signals if it changed anything, in the same commit. */
  change(sql: Sql, values: readonly Value[], signal: string): Promise<number>
  /** Signals without a change. */
  signal(name: string): Promise<void>
  /** Signals what is committed already: here at once, elsewhere soon, and not at all if this process dies before. */
  signalSoon(name: string): void
  /** All or nothing. The work must use the transaction it is given and wait for nothing else. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Whether everything that was signalled anywhere a moment ago has arrived here. */
  hears(): boolean
  /** Milliseconds now, by the database's clock. */
  clock(): Promise<number>
  close(): Promise<void>
}

/** The text for one engine. */
export const textFor = (sql: Sql, engine: Database['engine']): string => (typeof sql === 'string' ? sql : sql[engine])

/** The texts of a JSON array in a parameter, as rows. */
export const jsonTexts = (parameter: string): { readonly sqlite: string; readonly postgres: string } => ({
  sqlite: `SELECT value FROM json_each(${parameter})`,
  postgres: `SELECT jsonb_array_elements_text(CAST(${parameter} AS JSONB))`,
})
