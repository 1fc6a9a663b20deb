export type { Store } from './store.ts'
export { openStore } from './open-store.ts'
export { backupSqlite } from './backup/backup-file.ts'
export { restoreStore } from './backup/restore-store.ts'
export { lockFile } from '@parley/database'
export { openPostgres } from '@parley/database'
export { SCHEMA_VERSION } from '@parley/schema'
export { parseStoreUrl } from './store-url.ts'
export type { AppendOptions, AppendOutcome, LogEntry, LogPage, Logs } from './log/log.ts'
export { linesOf } from './log/lines.ts'
export type { ChainedEnd, ChainedEntry, LogChain } from './log/chain.ts'
export type { LeaseFence } from './lease/fence.ts'
export type { Lease } from './lease/lease.ts'
export type { Blobs } from './blob/blob.ts'
export type { Topics } from './topic/topic.ts'
export type { ExternalIdentity, UserRecord, Users } from './record/user/user.ts'
export type { RevokedToken, TokenRecord, Tokens } from './record/token/token.ts'
export type { LinkRecord, SignInProof, SignInRecord, SignIns } from './record/sign-in/sign-in.ts'
export type { AuditEntries, AuditRecord } from './record/audit/audit.ts'
export type { StoredSettings } from './record/setting/setting.ts'
export {
  type ClaimKey,
  type HeldBy,
  type InputFile,
  JOB_QUEUE,
  type JobArtifact,
  type JobInputs,
  type JobOutline,
  type JobRecord,
  type StatePatch,
  jobHolder,
  jobLog,
  laneOf,
} from './record/job/job.ts'
export type { ChannelRecord, Channels, ModelRecord } from './record/channel/channel.ts'
export type { FoundModelKey, ModelKeys } from './record/model-key/model-key.ts'
export {
  type OwnBounds,
  SPEND_SCOPES,
  type SpendBound,
  type SpendLimits,
  type SpendScope,
  type Spender,
  type UsageRecord,
  type Usages,
} from './record/usage/usage.ts'
export { type BackgroundCallRecord, type BackgroundCalls, backgroundTopic } from './record/background-call/background-call.ts'
export { type ChatMarkerRecord, type ChatRecord, type Chats, chatTopic } from './record/chat/chat.ts'
export { type News, type NewNews } from './record/news/news.ts'
export { PERSON_HOLDERS, leftHolder, personHolder } from './share/holder.ts'
export type { GatewayRecord, Gateways } from './record/gateway/gateway.ts'
export { type WorkerKind, type WorkerRecord, type Workers, workersTopic } from './record/worker/worker.ts'
export { isHere as isWorkerHere } from './record/worker/sql-workers.ts'
export {
  AGENT_QUEUE,
  type AgentRecord,
  type Agents,
  type MountRecord,
  type NewAgent,
  type NewMount,
  agentTopic,
  agentsTopic,
  newsTopic,
  callsLog,
  drainedTopic,
  transcriptLog,
} from './record/agent/agent.ts'
export {
  type ApprovalRecord,
  type ApprovalRecords,
  type Decided,
  type DecisionEffects,
  type NewApproval,
  approvalTopic,
  approvalsTopic,
  approversTopic,
} from './record/approval/approval.ts'
export { versionIn } from './record/approval/steps.ts'
export { policiesName, subjectsOf } from './record/policy/active-name.ts'
export type { Activated, NewAllowance, NewPolicy, PolicyRecord, PolicyRecords } from './record/policy/policy.ts'
export type { PromptRecord, Prompts } from './record/prompt/prompt.ts'
export type { GrantRecord, Grants } from './record/grant/grant.ts'
export { type JudgeRecord, type Judges, type SeenJudge, ownMachineId } from './record/judge/judge.ts'
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
} from '@parley/database'
export { onceAtATime } from '@parley/database'
export { unavailableWords } from './unavailable-words.ts'
