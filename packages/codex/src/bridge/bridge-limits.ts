/** The bounds of a bridge. */
export interface BridgeLimits {
  /** Conversations that may be open at once. */
  readonly conversations: number
  /**
   * Threads that were closed and that the process may still hold, with the servers mounted for them: no version lets go of
   * one at once. After so many an idle process is replaced.
   */
  readonly heldThreads: number
  /** A sign-in under way keeps its process for so long. */
  readonly signInMs: number
  /** How long a Codex that was started may take to say hello. */
  readonly greetMs: number
  /** How long any other answer may take. Opening a conversation waits for the servers that it mounts. */
  readonly answerMs: number
  /** How often Codex is started again within the window, before it counts as lost. */
  readonly restarts: number
  readonly restartWindowMs: number
  /** The first wait before it is started again; each further one is twice as long. */
  readonly backoffMs: number
  readonly backoffMaxMs: number
  /** How long an interrupted turn may take to end before it is ended without Codex. */
  readonly interruptMs: number
  /** The same when everything is closed. */
  readonly closeInterruptMs: number
  /** Between the end of its input, SIGTERM and SIGKILL. */
  readonly stopGraceMs: number
}

export const BRIDGE_LIMITS: BridgeLimits = {
  conversations: 64,
  heldThreads: 32,
  signInMs: 10 * 60_000,
  greetMs: 30_000,
  answerMs: 120_000,
  restarts: 5,
  restartWindowMs: 60_000,
  backoffMs: 100,
  backoffMaxMs: 5_000,
  interruptMs: 5_000,
  closeInterruptMs: 700,
  stopGraceMs: 400,
}
