/** One numbered step. Never edited after a release: a change is a new number. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sqlite: string
  readonly postgres: string
}
