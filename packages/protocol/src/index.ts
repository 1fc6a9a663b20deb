export { type JsonObject, type JsonValue, isJsonObject, parseJson } from './json.ts'
export { ByteRoom, ByteShare } from './foreign/byte-room.ts'
export { keptText } from './foreign/kept-text.ts'
export { beyondBounds, FOREIGN_BOUNDS, holdsAtMost, parseForeign, valuesIn } from './foreign/json-values.ts'
export {
  AgentId,
  AllowanceId,
  ApprovalId,
  ConversationId,
  JobId,
  CallId,
  PromptId,
  TokenId,
  UploadId,
  UsageId,
  UserId,
  type RandomBytes,
  makeId,
} from './ids.ts'
export { type Audience, Role, isAdmitted } from './roles.ts'
export { EVERY_SCOPE, type HeldScopes, Scope, type Scoped, inOrder, isInScope, scopesFor } from './scopes.ts'
export {
  CallCancelled,
  RPC_CODES,
  type RpcCodeName,
  RpcError,
  TOOL_ERROR_META,
  ToolError,
  ToolErrorBody,
  ToolErrorCode,
  wrongArgument,
} from './errors.ts'
export { Agent, AgentKind, AgentName, AgentSettings, AgentStatus } from './agent/agent.ts'
export { APPROVAL_LIMITS, APPROVAL_MOVES, ApprovalAnswer, ApprovalKind, ApprovalStatus, isYes } from './approval/approval.ts'
export { AgentBudgets } from './agent/budgets.ts'
export { AGENT_LIMITS } from './agent/limits.ts'
export { MountSignIn } from './agent/sign-in.ts'
export { missingDownload } from './agent/downloader.ts'
export { MountName, MountSettings, MountPlace, ServerSpec, MountReport, RESERVED_MOUNTS } from './agent/mount.ts'
export { Preset } from './agent/preset.ts'
export { PROMPT_MOVES, Prompt, PromptOutcome, PromptStatus, PromptText } from './agent/prompt.ts'
export { CallLine } from './agent/call-line.ts'
export { TranscriptLine } from './agent/transcript.ts'
export {
  BACKGROUND_CALL_MOVES,
  BackgroundArguments,
  BackgroundCall,
  BackgroundCallEnd,
  BackgroundCallState,
} from './agent/background-call.ts'
export { Heard, NewsItem, NewsPage, NewsText } from './agent/news.ts'
export { NewsKind, AgentRest, RestRecord, WakeOn, WakeRules, Yield } from './agent/wake.ts'
export { Allowance } from './policy/allowance.ts'
export { CallKind, PolicyDecision, PolicyLayer } from './policy/decision.ts'
export { Approvers, PolicyCounts, ExampleCall, PolicyDocument, PolicyExample, PolicyRule } from './policy/document.ts'
export { POLICY_LIMITS } from './policy/limits.ts'
export { PolicyStatus, PolicySubject, policySubjectText } from './policy/version.ts'
export { Grant, NO_GRANT } from './tools/grant.ts'
export {
  AgentClaim,
  CALLER_META,
  CallerMeta,
  GateDefault,
  type HeldMount,
  HostAction,
  type HostView,
  LET_GO,
} from './tools/host.ts'
export type { Approval } from './tools/approval.ts'
export type { PolicyEntry, PolicyReview } from './tools/policy.ts'
export type { ApprovalStep, HeldApproval } from './tools/host-approval.ts'
export { AgentLogName } from './tools/prompt.ts'
export { CHAT_LIMITS, ChatKey, ChatMarker, ChatMessage, ChatText } from './chat/message.ts'
export type { ChatPage } from './tools/chat.ts'
export { Mount } from './tools/mount.ts'
export { type Moves, Place } from './moves.ts'
export { Meter, type Rate } from './meter.ts'
export { PassingMap } from './passing-map.ts'
export { RecentMap } from './recent-map.ts'
export { settlesWithin, unlessAborted, within } from './bounded-wait.ts'
export { asError, messageOf } from './thrown.ts'
export { RPC_CODE_MEANINGS, TOOL_ERROR_MEANINGS } from './meanings.ts'
export { iso, isoOrNull } from './time.ts'
export { type AnswerSchema, type ToolAnnotations, type ToolSpec, ADDS, ENDS, READS, SETS, readsOnly, tool } from './tool.ts'
export { type ToolDescription, describeDocument, describeTool } from './describe.ts'
export { DOCUMENTS } from './documents.ts'
export { TOOLS, type ToolArguments, type ToolInput, type ToolName, type ToolOutput } from './tools.ts'
export { RESOURCES, type ResourceSpec, type ResourceUri } from './resources.ts'
export { JOB_LOGS, type WrittenLog } from './job-logs.ts'
export { NOTIFICATIONS, type NotificationMethod, type NotificationSpec } from './notifications.ts'
export { Password } from './tools/account.ts'
export { AuditEntry, ChainFault } from './tools/audit.ts'
export { Token } from './tools/token.ts'
export { User, Username } from './tools/user.ts'
export { AgentStage, AgentStatusItem } from './job/agent-status.ts'
export { CaseDiff, CaseItem, CaseResult, Verdict, caseRound } from './job/case.ts'
export { CompareMode, FloatTolerance, JudgeProgram, TestsFormat } from './job/compare.ts'
export { Language, isSameLanguage, languageOfFile, mainFile } from './job/language.ts'
export { JOB_LIMITS } from './job/limits.ts'
export { JobLogName, JobStream } from './job/log-name.ts'
export {
  ALONE_WALL,
  type CaseBounds,
  type PastLimit,
  caseWallMs,
  memoryText,
  passedWallMs,
  pastLimit,
  shownInstead,
} from './job/past-limit.ts'
export { CompileResult, GroupScore, Report, ReportSummary, SandboxFacts } from './job/report.ts'
export { type JobResult, countsText, resultText, shortCountsText } from './job/result-text.ts'
export { Solution, Usage } from './job/solution.ts'
export { type UnjudgedWords, isUnjudged, unjudgedWords } from './job/unjudged.ts'
export { NO_CASES, untestedReport } from './job/untested-report.ts'
export { EngineName, JobSpec, ReasoningEffort } from './job/spec.ts'
export { JobOffsets, JobPatch, JobState } from './job/state.ts'
export { Waiting, WaitingCode } from './job/waiting.ts'
export { END_STATUSES, type EndStatus, JobError, JobStatus, STATUS_BEFORE, isEnd } from './job/status.ts'
export { TestCase } from './tests/case-list.ts'
export { type DiscoverOptions, type Discovery, type TestGroup, discoverTests, discoverTestsIn } from './tests/discover.ts'
export { MANIFEST_BYTES_MAX, MANIFEST_PATH, TestsManifest, type TestsProgram } from './tests/manifest.ts'
export { compareNaturally } from './tests/natural-order.ts'
export { type TestsFault, type TestsField, TestsInvalid } from './tests/tests-invalid.ts'
export { JobListItem } from './tools/job.ts'
export { ClaimId, JUDGE_HOLDS_MAX, Judge, JudgeAction, JudgeFacts, MachineId } from './tools/judge.ts'
export { Channel, ChannelKind } from './tools/channel.ts'
export { ChannelCheck, ChannelName, Model, ModelName } from './tools/models.ts'
export { PricedModel } from './tools/pricing.ts'
export { COMPOSITOR_TOOL_LIMITS, COMPOSITOR_TOOLS } from './tools/compositor/compositor.ts'
export { STATUS_LIMITS, STATUS_SERVER_NAME, STATUS_TOOLS, SelfTestFailure } from './tools/status.ts'
export {
  ExecutorView,
  type GatewayAddress,
  TUNNEL_PATH,
  TUNNEL_TICKET_HEADER,
  TunnelKind,
  WORKER_LIMITS,
  WorkerFacts,
  WorkerInstance,
  WorkerLabels,
  WorkerLoad,
} from './tools/worker.ts'
export { WorkerName } from './worker-name.ts'
export { Quota, UsageEvent, UsageTotal } from './tools/usage.ts'
export { Budget, JobBudget, NO_BUDGET } from './model/budget.ts'
export type { PreparedModel } from './model/prepared.ts'
export { costText, dollars } from './model/money-text.ts'
export { ModelPrices, NO_PRICES, costOf, isPriced } from './model/price.ts'
export { ModelScript, ScriptAnswer } from './model/script.ts'
export { ModelWire, NO_TOKENS, TokenUsage, addTokens, readTokens, totalTokens } from './model/usage.ts'
