export { type ApprovalReply, type ApprovalDecision, type ApprovalRequest, type FullReply, fullReply } from './approval.ts'
export { checkInput, checkOptions } from './check-input.ts'
export { budgetedLog } from './log-budget.ts'
export { type Compositor, openCompositor } from './compositor/compositor.ts'
export { type CompositorLimits, DEFAULT_COMPOSITOR_LIMITS } from './compositor/compositor-limits.ts'
export type { MountOptions, Root, ToolChoice } from './compositor/mount-options.ts'
export type { LeftOut, MountState, MountStatus } from './compositor/mount-state.ts'
export {
  type CallRecorder,
  ENGINE_CALL_META,
  type BackgroundDesk,
  type ChatDesk,
  type LoopDesk,
  type ResourceChange,
  type PolicyDesk,
  type CompositorOptions,
  type ConnectNeed,
  type MountCall,
  type MountCallKind,
  type MountDecision,
  type MountGate,
  type MountWait,
  type SubscriptionShelf,
} from './compositor/ports.ts'
export { type CommandOutcome, type CommandRequest, type Commands, refusedCommand } from './commands.ts'
export type {
  ApprovalMode,
  Conversation,
  ConversationListener,
  ConversationOptions,
  NewsInput,
  NewsSource,
  Engine,
  InputPart,
  Reach,
  Turn,
  TurnInput,
} from './engine.ts'
export { approvedText, editedText } from './approved-text.ts'
export type { EngineFor, EnginePorts } from './engine-for.ts'
export { ConversationBusy, ConversationClosed, ConversationUnknown, InvalidArgument } from './errors.ts'
export {
  type ActStatus,
  type EngineEvent,
  type FileChange,
  type NextTry,
  type PlanStep,
  TURN_FAILURES,
  type TurnEnd,
  type TurnFailure,
} from './event.ts'
export type { Gate, GateCall, GateDecision } from './gate.ts'
export { GATEWAY_BUSY, gatewayFailure } from './gateway-codes.ts'
export { leftEnd } from './left-turn.ts'
export { lineDiff } from './line-diff.ts'
export { linkedServer } from './linked-server.ts'
export type { ConnectMount, MountServer, MountSpec } from './mount.ts'
export { secondsText } from './seconds-text.ts'
export { NOTHING_USED, type Spent, Spending, type Used } from './spending.ts'
export { type TokenShelf, signedInMounts } from './signed-in-mounts.ts'
export { hunkBody, linesWithEnds, unifiedDiff } from './unified-diff.ts'
export type { Transcript, TranscriptEntry, Transcripts } from './transcript.ts'
