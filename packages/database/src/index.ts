export { lockAll, lockNamed } from './advisory-lock.ts'
export { bytes, bytesOrNull, flag, integer, integerOrNull, text, textOrNull } from './column.ts'
export { type Database, type Queries, type Row, type Sql, type Transaction, type Value, jsonTexts } from './database.ts'
export {
  AlreadyExists,
  Conflict,
  HashMismatch,
  InvalidArgument,
  LeaseLost,
  LogTrimmed,
  NotAStore,
  NotFound,
  SchemaTooNew,
  ShareExceeded,
  StoreError,
  type StoreErrorCode,
  StoreLocked,
  StoreUnavailable,
  TargetNotEmpty,
  TooLarge,
  UploadGap,
} from './errors.ts'
export { CLOCK_SETTING, MACHINE_CLOCKS, followDatabase, followMachine } from './followed-clock.ts'
export { type Shape, fromJson, parsedOrNull, toJson } from './json-column.ts'
export { type FileLock, lockFile } from './lock-file.ts'
export { onceAtATime } from './once-at-a-time.ts'
export { postgresFailure } from './postgres-failure.ts'
export { PostgresDatabase, openPostgres } from './postgres.ts'
export { makePrivate } from './private-file.ts'
export { Signals } from './signals.ts'
export { SqliteDatabase, type Synchronous, openSqlite } from './sqlite.ts'
export { type MachineClocks } from './steady-clock.ts'
