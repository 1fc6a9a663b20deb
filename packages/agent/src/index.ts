export type { ApprovalDecision, ApprovalRequest } from './approval.ts'
export { type CommandOutcome, type CommandRequest, type Commands, refusedCommand } from './commands.ts'
export type {
  ApprovalMode,
  Conversation,
  ConversationListener,
  ConversationOptions,
  Engine,
  InputPart,
  Reach,
  Turn,
  TurnInput,
} from './engine.ts'
export { ConversationBusy, ConversationClosed, ConversationUnknown } from './errors.ts'
export {
  type ActStatus,
  type EngineEvent,
  type FileChange,
  type PlanStep,
  TURN_FAILURES,
  type TurnEnd,
  type TurnFailure,
} from './event.ts'
export type { Gate, GateCall, GateDecision } from './gate.ts'
export type {
  ModelAnswer,
  ModelClient,
  ModelEndpoint,
  ModelExchange,
  ModelItem,
  ModelListener,
  ModelRequest,
  ModelTool,
  NextTry,
} from './model.ts'
export type { ConnectMount, MountServer, MountSpec } from './mount.ts'
export type { Transcript, TranscriptEntry, Transcripts } from './transcript.ts'
export { asksForMore, type Escalation } from './tool/escalation.ts'
export { MountFailed } from './tool/mount/mount-failed.ts'
export { type OpenToolbox, openToolbox } from './tool/open-toolbox.ts'
export { fitsStrict } from './model/strict-schema.ts'
export { type ModelClientOptions, openModelClient } from './model/model-client.ts'
export { gatewayFailure } from './model/gateway-codes.ts'
export { MODEL_LIMITS, type ModelLimits } from './model/model-limits.ts'
export { secondsText } from './model/seconds-text.ts'
export { MINI_LIMITS, type MiniLimits, type MiniOptions, type ModelFacts } from './mini/mini-options.ts'
export { openMini } from './mini/open-mini.ts'
export { InvalidArgument } from './mini/check-input.ts'
export { ConversationLocked, TranscriptDamaged } from './mini/transcript/errors.ts'
export { type LockPath, openFileTranscripts } from './mini/transcript/open-file-transcripts.ts'
export { openMemoryTranscripts } from './mini/transcript/open-memory-transcripts.ts'
