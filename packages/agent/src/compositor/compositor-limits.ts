/** Every bound of a compositor, by name. */
export interface CompositorLimits {
  readonly mounts: number
  /** Tools that one mount may have, and prompts; the rest is left out, and the mount's state says so. */
  readonly toolsPerMount: number
  /** The same for its resources and for its templates. */
  readonly resourcesPerMount: number
  /** What all lists of one mount may hold together, and those of all mounts; as much as they take in memory, about. */
  readonly listBytesPerMount: number
  readonly listBytes: number
  /** What is kept of an error of a mount or of one of its lists, in characters. */
  readonly errorChars: number
  /** Pages of one list that are followed at a mount. */
  readonly listPages: number
  /** Entries of one page of a list that a client is given. */
  readonly pageItems: number
  /** The same for the answer of a tool, which a model reads. */
  readonly toolPageItems: number
  /** How long a list waits for one mount. One that takes longer is left out, or shown as it last was. */
  readonly listMs: number
  /** Servers need not tell of changes. The list of one that does not is asked for again after this. */
  readonly untoldListMs: number
  /** How long a mount may take to start, and a call may wait for that. */
  readonly startMs: number
  /** First and longest wait before a mount that ended is started again. */
  readonly restartMs: number
  readonly restartMaxMs: number
  /** How long one call may take. */
  readonly callMs: number
  readonly callsPerMount: number
  /** Calls of modern clients that wait for answers, and how long each may wait. */
  readonly parkedCalls: number
  readonly parkedMs: number
  /** How long a call that may be asked about is alone at a server that does not say what it asks about, while others wait. */
  readonly aloneMs: number
  /** Rounds of questions that the compositor answers by itself within one call. */
  readonly inputRounds: number
  /** The largest result that a client is given. */
  readonly resultBytes: number
  /** Different resources that are watched at one time. */
  readonly subscriptions: number
  /** Subscriptions that the agent itself may keep. */
  readonly ownSubscriptions: number
  /** What the banner of all instructions may have, and what one mount may have of it. */
  readonly instructionBytes: number
  readonly instructionBytesPerMount: number
  /** Contents that are kept for the next window of `resources_read`: bytes of all, and for how long. */
  readonly windowCacheBytes: number
  readonly windowCacheMs: number
  /** What a mount's state tells of what was left out, at most. */
  readonly leftOutShown: number
}

export const DEFAULT_COMPOSITOR_LIMITS: CompositorLimits = {
  mounts: 64,
  toolsPerMount: 512,
  resourcesPerMount: 10_000,
  listBytesPerMount: 16 * 1024 * 1024,
  listBytes: 64 * 1024 * 1024,
  errorChars: 4_096,
  listPages: 100,
  pageItems: 1_000,
  toolPageItems: 100,
  listMs: 5_000,
  untoldListMs: 60_000,
  startMs: 30_000,
  restartMs: 250,
  restartMaxMs: 30_000,
  callMs: 60 * 60_000,
  callsPerMount: 256,
  parkedCalls: 256,
  parkedMs: 10 * 60_000,
  aloneMs: 5_000,
  inputRounds: 8,
  resultBytes: 8 * 1024 * 1024,
  subscriptions: 4_096,
  ownSubscriptions: 256,
  instructionBytes: 64 * 1024,
  instructionBytesPerMount: 8 * 1024,
  windowCacheBytes: 32 * 1024 * 1024,
  windowCacheMs: 5 * 60_000,
  leftOutShown: 100,
}
