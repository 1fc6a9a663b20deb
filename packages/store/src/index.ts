export type { Store } from './store.ts'
export { type OpenStoreOptions, openStore } from './open-store.ts'
export { backupSqlite } from './backup/backup-file.ts'
export { restoreStore } from './backup/restore-store.ts'
export { type FileLock, lockFile } from './database/lock-file.ts'
export { openPostgres } from './database/postgres.ts'
export { SCHEMA_VERSION } from './migration/migrate.ts'
export { type StoreLocation, parseStoreUrl } from './store-url.ts'
export type { AppendOptions, AppendOutcome, LeaseFence, LogEntry, LogPage, Logs, Position, ReadOptions } from './log/log.ts'
export type { Lease, Leases } from './lease/lease.ts'
export type { Blobs } from './blob/blob.ts'
export type { Topics } from './topic/topic.ts'
export type { ExternalIdentity, UserRecord, Users } from './record/user.ts'
export type { TokenRecord, Tokens } from './record/token.ts'
export type { LinkRecord, SignInProof, SignInRecord, SignIns } from './record/sign-in.ts'
export type { AuditEntries, AuditRecord } from './record/audit.ts'
export type { Settings } from './record/setting.ts'
export {
  type ClaimKey,
  type HeldBy,
  type InputFile,
  JOB_QUEUE,
  type JobArtifact,
  type JobClaim,
  type JobInputs,
  type JobOutline,
  type JobRecord,
  type JobLog,
  type Jobs,
  type StatePatch,
  jobHolder,
  jobLog,
  laneOf,
} from './record/job.ts'
export type { ChannelRecord, Channels, ModelRecord } from './record/channel.ts'
export type { ModelKeyRecord, ModelKeys } from './record/model-key.ts'
export type { QuotaRecord, Quotas, SpendLimits, Spent, UsageGrouping, UsageRecord, Usages } from './record/usage.ts'
export type { Shares } from './share/share.ts'
export { PERSON_HOLDERS, leftHolder, personHolder } from './blob/holder.ts'
export { type JudgeRecord, type Judges, type SeenJudge, ownMachineId } from './record/judge.ts'
export {
  AlreadyExists,
  Conflict,
  HashMismatch,
  InvalidArgument,
  LeaseLost,
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
