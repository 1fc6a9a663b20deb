export { type TestPostgres, startPostgres } from './start-postgres.ts'
export { ENGINES, type TestEngine, startEngine } from './engines.ts'
export { type KillReport, killRounds } from './kill-rounds.ts'
export { ONE_CASE_ZIP } from './one-case-zip.ts'
