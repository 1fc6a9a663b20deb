/**
 * One numbered step. It is never edited after a release: a change is a new step. To add one, write `NNNN-name.ts` without a semicolon
 * inside a statement, add it to the list in `migrate.ts` and its tables to `backup/tables.ts` of `store`, and run `store/src/schema.test.ts`
 * once with `PARLEY_REWRITE_GOLDEN=1`; then review the dumps.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sqlite: string
  readonly postgres: string
}
