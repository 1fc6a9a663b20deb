import { STEADY_LIMITS, type SteadyLimits } from '@parley/client'
import { JOB_LIMITS } from '@parley/protocol'

const MIB = 1024 * 1024

/** Every bound of the worker, by name, beside those of its way to the gateway. Tests shorten the times. */
export interface WorkerLimits extends SteadyLimits {
  /** How long one request for work waits at the gateway. */
  readonly claimWaitMs: number
  /** An answer that came sooner than this without a job is not asked again before it has passed. */
  readonly claimPauseMs: number
  /** How often a judge that was told to take no more asks whether that still holds. */
  readonly drainPollMs: number
  /** What `callMs` is for other calls, for those that may hold megabytes. */
  readonly largeCallMs: number
  /** A shorter lease than this is taken for this one: nobody could keep it anyway. */
  readonly leaseMinMs: number
  /** Heartbeats where the gateway cannot push: a cancelled job must stop within about a second. */
  readonly pollMs: number
  /** A job about which no call was accepted for this long is given up: somebody else has it by now. */
  readonly silentMs: number
  /** One append; what waits longer goes in the next. */
  readonly appendBytes: number
  /** One line of a log; a longer one is left out. Less than one append, so that a line always travels whole. */
  readonly lineBytes: number
  /** Answers in a row that say the log stands elsewhere, before we stop adding to it. */
  readonly mismatches: number
  readonly downloadsAtOnce: number
  /** Inputs kept for the next job that has the same. */
  readonly cacheBytes: number
  /** `job.json` holds statement, code, checker and interactor. */
  readonly jobFileBytes: number
  /** One test of a job, whatever it asks for. */
  readonly jobMs: number
  /** What a test gets beside the limits of its cases, for compiling, also on a machine that keeps it waiting, and for our own work. */
  readonly jobSlackMs: number
  /** How long giving jobs back may take when the judge ends. */
  readonly returnMs: number
  /** Rounds of generate and test, whatever a job asks for. */
  readonly attempts: number
  /** Claims of which what was said and did not arrive is kept for the next claim; the oldest go first. */
  readonly lateClaims: number
  /** All of that together. */
  readonly lateBytes: number
  /** How long it is kept after its last word: then the job is over, or somebody else has it. */
  readonly lateMs: number
  /** Claims of which only is kept how much was lost, and for how long. */
  readonly lateNotes: number
  readonly lateNoteMs: number
}

export const WORKER_LIMITS: WorkerLimits = {
  ...STEADY_LIMITS,
  claimWaitMs: JOB_LIMITS.waitMs,
  claimPauseMs: 1_000,
  drainPollMs: 5_000,
  largeCallMs: 5 * 60_000,
  leaseMinMs: 200,
  pollMs: 1_000,
  silentMs: 15 * 60_000,
  appendBytes: MIB / 2,
  lineBytes: MIB / 4,
  mismatches: 8,
  downloadsAtOnce: 4,
  cacheBytes: 1024 * MIB,
  jobFileBytes: 16 * MIB,
  jobMs: 60 * 60_000,
  jobSlackMs: 8 * 60_000,
  returnMs: 5_000,
  attempts: 10,
  lateClaims: 64,
  lateBytes: 128 * MIB,
  lateMs: 24 * 60 * 60_000,
  lateNotes: 1_024,
  lateNoteMs: JOB_LIMITS.keptMs,
}
