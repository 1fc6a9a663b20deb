import type { Blobs } from './blob/blob.ts'
import type { Leases } from './lease/lease.ts'
import type { Logs } from './log/log.ts'
import type { Agents } from './record/agent/agent.ts'
import type { ApprovalRecords } from './record/approval/approval.ts'
import type { PolicyRecords } from './record/policy/policy.ts'
import type { Prompts } from './record/prompt/prompt.ts'
import type { News } from './record/news/news.ts'
import type { BackgroundCalls } from './record/background-call/background-call.ts'
import type { Chats } from './record/chat/chat.ts'
import type { AuditEntries } from './record/audit/audit.ts'
import type { Channels } from './record/channel/channel.ts'
import type { Jobs } from './record/job/job.ts'
import type { Gateways } from './record/gateway/gateway.ts'
import type { Grants } from './record/grant/grant.ts'
import type { Judges } from './record/judge/judge.ts'
import type { ModelKeys } from './record/model-key/model-key.ts'
import type { Quotas } from './record/quota/quota.ts'
import type { StoredSettings } from './record/setting/setting.ts'
import type { SignIns } from './record/sign-in/sign-in.ts'
import type { Tokens } from './record/token/token.ts'
import type { Usages } from './record/usage/usage.ts'
import type { Users } from './record/user/user.ts'
import type { Workers } from './record/worker/worker.ts'
import type { Shares } from './share/share.ts'
import type { Topics } from './topic/topic.ts'

/** What survives a restart. One interface, two engines; nothing above this room knows which. */
export interface Store {
  readonly engine: 'sqlite' | 'postgres'
  /** Milliseconds, by a clock that never jumps. */
  readonly now: () => number
  readonly logs: Logs
  readonly leases: Leases
  readonly blobs: Blobs
  readonly topics: Topics
  readonly users: Users
  readonly tokens: Tokens
  readonly signIns: SignIns
  readonly audit: AuditEntries
  readonly settings: StoredSettings
  readonly jobs: Jobs
  readonly judges: Judges
  readonly workers: Workers
  readonly gateways: Gateways
  readonly agents: Agents
  readonly prompts: Prompts
  readonly chats: Chats
  readonly backgroundCalls: BackgroundCalls
  readonly news: News
  readonly approvals: ApprovalRecords
  readonly policies: PolicyRecords
  readonly grants: Grants
  readonly channels: Channels
  readonly modelKeys: ModelKeys
  readonly usages: Usages
  readonly quotas: Quotas
  readonly shares: Shares
  /** Answers when the database does; throws `StoreUnavailable` when it does not. */
  ping(): Promise<void>
  /** A consistent copy while running, as one file that `restoreStore` takes. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}
