export { ConversationLocked, TranscriptDamaged } from './loop/transcript/errors.ts'
export { MINI_LIMITS, type MiniLimits, type MiniOptions, type ModelFacts } from './loop/mini-options.ts'
export { openMini } from './loop/open-mini.ts'
export { type LockPath, openFileTranscripts } from './loop/transcript/open-file-transcripts.ts'
export { openMemoryTranscripts } from './loop/transcript/open-memory-transcripts.ts'
export type {
  ModelAnswer,
  ModelClient,
  ModelEndpoint,
  ModelExchange,
  ModelItem,
  ModelListener,
  ModelRequest,
  ModelTool,
} from './model/model.ts'
export { type ModelClientOptions, openModelClient } from './model/model-client.ts'
export { MODEL_LIMITS, type ModelLimits } from './model/model-limits.ts'
export { fitsStrict } from './model/strict-schema.ts'
