const MIB = 1024 * 1024

/** Every bound of the stage in which an engine writes, by name. Tests shorten the times. */
export interface GenerateLimits {
  /** One attempt, from the question for a key to the answer. The time of tests does not come out of it. */
  readonly generateMs: number
  /** How long the gateway may take to give a key. */
  readonly prepareMs: number
  /** How long an engine may take to stop before it is left to itself. */
  readonly interruptMs: number
  /** After how long without a word from the model those who watch are told, and how long after that again. */
  readonly waitingMs: number
  readonly waitingEveryMs: number
  /** Turns beyond the first that ask for the document again. */
  readonly followUps: number
  /** A batch of what is being written goes out at this size or after this time. */
  readonly batchChars: number
  readonly batchMs: number
  /** What of a statement, of the user's code and of the samples stands in the prompt; all of it lies in files. */
  readonly statementChars: number
  readonly codeChars: number
  readonly samples: number
  readonly sampleChars: number
  /** What of failures and of the compiler's words a repair is told. */
  readonly failures: number
  readonly failureChars: number
  /** Sample files that are laid into the workspace. */
  readonly workspaceBytes: number
  /** A turn's answer longer than this is not read. */
  readonly answerChars: number
}

export const GENERATE_LIMITS: GenerateLimits = {
  generateMs: 20 * 60_000,
  prepareMs: 60_000,
  interruptMs: 900,
  waitingMs: 10_000,
  waitingEveryMs: 20_000,
  followUps: 1,
  batchChars: 600,
  batchMs: 250,
  statementChars: 200_000,
  codeChars: 100_000,
  samples: 8,
  sampleChars: 2_000,
  failures: 3,
  failureChars: 2_000,
  workspaceBytes: 64 * MIB,
  answerChars: 4 * MIB,
}
