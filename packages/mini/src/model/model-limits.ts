/** Bounds on asking a model. */
export interface ModelLimits {
  /** How often one request is sent before the provider counts as unavailable. */
  readonly attempts: number
  /** How often when the answers cannot be read. */
  readonly malformedAttempts: number
  /** How often when nothing is said: each of them takes as long as a model may be silent. */
  readonly silentAttempts: number
  /** How often one request is sent again with less in it, because the provider did not know a part. */
  readonly relaxations: number
  /** The first wait before another try; it doubles up to the longest. */
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** The longest wait that a provider may ask for; one that asks for more is not waited for. */
  readonly askedWaitMs: number
  /** All waits of one request together. */
  readonly waitedMs: number
  /** From sending to the first thing the model says. */
  readonly firstTokenMs: number
  /** Between two pieces of an answer; a keep-alive is one. */
  readonly idleMs: number
  /** From sending to the end of the answer. */
  readonly answerMs: number
  /** How long a connection may take to end after the last event before it is cut. */
  readonly lingerMs: number
  readonly eventBytes: number
  readonly answerBytes: number
  readonly answerItems: number
  /** What of an error's body is read, and what of its words is told. */
  readonly errorBytes: number
  readonly messageCharacters: number
  /** The same for those who watch while it is tried again. */
  readonly briefCharacters: number
  /** For how many models it is remembered what their provider does not know. */
  readonly rememberedModels: number
}

export const MODEL_LIMITS: ModelLimits = {
  attempts: 15,
  malformedAttempts: 3,
  silentAttempts: 2,
  relaxations: 12,
  firstWaitMs: 500,
  longestWaitMs: 30_000,
  askedWaitMs: 120_000,
  waitedMs: 300_000,
  firstTokenMs: 180_000,
  idleMs: 120_000,
  answerMs: 1_800_000,
  lingerMs: 1_000,
  eventBytes: 16 * 1024 * 1024,
  answerBytes: 64 * 1024 * 1024,
  answerItems: 1_000,
  errorBytes: 64 * 1024,
  messageCharacters: 2_000,
  briefCharacters: 300,
  rememberedModels: 64,
}
