import type {
  EndStatus,
  JobError,
  JobId,
  JobSpec,
  JobStatus,
  ReportSummary,
  TestCase,
  UserId,
  WrittenLog,
} from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'
import type { Lease } from '../../lease/lease.ts'

/** The queue in which jobs wait for a judge; the key is the job's id. */
export const JOB_QUEUE = 'jobs'

/** One judge's hold on a job: the lease under it, and the id that the judge shows with every write. */
export interface JobClaim {
  readonly id: string
  readonly fence: number
  readonly machineId: string
  /** What people call the judge. */
  readonly judgeName: string
  readonly claimedAt: number
  /** Whether the judge has made a call about it: a claim whose answer got lost was never at work. */
  readonly begun: boolean
}

/** What was asked for without its long texts: statement, code, checkers and names of samples are with the inputs. */
export interface JobOutline extends Omit<JobSpec, 'problem' | 'seed' | 'tests'> {
  readonly tests: Omit<JobSpec['tests'], 'checker' | 'interactor' | 'samples'>
}

export interface JobRecord {
  readonly id: JobId
  readonly ownerId: UserId | null
  /** What the owner is called now. */
  readonly ownerName: string | null
  readonly status: JobStatus
  readonly createdAt: number
  /** When it first ran. */
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly expiresAt: number | null
  readonly spec: JobOutline
  /** The last claim that counts; it may be over. */
  readonly claim: JobClaim | null
  readonly claims: number
  readonly lostClaims: number
  readonly attempt: number
  readonly error: JobError | null
  readonly summary: ReportSummary | null
  readonly containers: string | null
  /** Names of what `artifacts` has, sorted. */
  readonly artifactNames: readonly string[]
  readonly retryOf: JobId | null
}

/** One file of a job's inputs: a piece of the blob that holds all of them, one after the other. */
export interface InputFile {
  readonly path: string
  readonly offset: number
  readonly size: number
  readonly sha256: string
}
export interface JobInputs {
  readonly spec: JobSpec
  /** The blob with the bytes of `files`; null when there are none. */
  readonly blob: string | null
  readonly files: readonly InputFile[]
  readonly cases: readonly TestCase[]
}

export interface JobArtifact {
  readonly name: string
  readonly attempt: number
  readonly claim: number
  readonly sha256: string
  readonly bytes: number
  readonly at: number
}

/** Who writes: the job and the claim it shows. Refused with `LeaseLost` unless that claim holds the lease now. */
export interface ClaimKey {
  readonly jobId: JobId
  readonly claimId: string
}

export interface StatePatch {
  readonly status?: 'running_generate' | 'running_test' | EndStatus
  readonly attempt?: number
  readonly error?: JobError | null
  readonly summary?: ReportSummary | null
  readonly containers?: string | null
}

/**
 * Jobs. Each transition is one guarded statement (`STATUS_BEFORE`), in one transaction with its lease. Every change
 * publishes `job/ID`, and `jobs` and `jobs/OWNER` (`jobs/-` without one) where the list shows it.
 */
export interface Jobs {
  /**
   * Adds a job as `created`, with its four empty logs, which have little room until more is made for them. The inputs' blob, which
   * `job/ID` holds from now on, must be held by `leftHolder` of the owner, by the job that is retried or by `job/ID` (else
   * `not_found`); two of one id is `already_exists`, a disabled owner is `conflict`, beyond the owner's share `ShareExceeded`.
   */
  add(job: {
    readonly id: JobId
    readonly ownerId: UserId | null
    readonly inputs: JobInputs
    readonly retryOf?: JobId
  }): Promise<JobRecord>
  byId(id: JobId): Promise<JobRecord | undefined>
  list(page: {
    readonly ownerId?: UserId | null
    readonly statuses?: readonly JobStatus[]
    readonly beforeCreatedAt?: number
    readonly beforeId?: JobId
    readonly limit: number
  }): Promise<readonly JobRecord[]>
  inputs(id: JobId): Promise<JobInputs | undefined>
  /**
   * created → queued, offered to judges in the same commit, unless its owner's share is exceeded or `atOnce` of their jobs wait or
   * run (`ShareExceeded`). Any other status: unchanged. Answers the record after it.
   */
  start(id: JobId, options?: { readonly atOnce?: number | null }): Promise<JobRecord | undefined>
  /**
   * Any status but an end → cancelled, kept for `keptMs` (`JOB_LIMITS.keptMs`). `by` is the name of whoever asked for it. A job that
   * nobody holds leaves the queue in the same commit; the judge of a held one may still flush until it releases.
   */
  cancel(id: JobId, options?: { readonly by?: string; readonly keptMs?: number }): Promise<JobRecord | undefined>
  /**
   * Writes down who took the lease; the same again changes nothing. Answers the record as `queued` under the new claim;
   * `undefined` when the job is gone or has ended, or when its owner is deleted or disabled: it is cancelled then, and its lease is
   * completed. An earlier claim that had begun and neither ended the job nor was forgotten counts as lost. `LeaseLost` when the
   * lease itself ran out meanwhile. When `lostClaims` reaches `maxLost` the job ends as failed with `poisoned`, its lease is
   * completed, and `report`, which `job/ID` holds already, becomes its report in the same commit.
   */
  claimed(
    lease: Lease,
    claim: {
      readonly id: string
      readonly machineId: string
      /** Left out: as the machine is. */
      readonly judgeName?: string
      readonly maxLost: number
      readonly keptMs: number
      readonly report?: { readonly sha256: string; readonly bytes: number }
    },
  ): Promise<{ readonly kind: 'claimed' | 'poisoned'; readonly job: JobRecord } | undefined>
  /** Renews the lease, marks the claim as begun, and answers the job and the fence for further writes. */
  renew(
    key: ClaimKey,
    ttlMs: number,
  ): Promise<{ readonly job: JobRecord; readonly fence: LeaseFence; readonly expiresAt: number }>
  /**
   * Moves the job on. An end sets `finishedAt` and `expiresAt` (now + `keptMs`). The same end again under the same claim is
   * harmless; a cancelled job takes `summary` alone; a status that may not follow is `conflict`.
   */
  patch(key: ClaimKey, patch: StatePatch, keptMs: number): Promise<JobRecord>
  /**
   * An ended job: its lease is completed. Any other: queued again, and the claim is lost if it had begun, so that a judge
   * cannot take and give back one job for ever; without `countLoss` the claim is forgotten as if never taken. Idempotent
   * for the last claim.
   */
  release(key: ClaimKey, options: { readonly countLoss: boolean; readonly notBefore?: number }): Promise<void>
  /** Records artifacts whose blobs `job/ID` holds already; replaces those of the same name. */
  putArtifacts(key: ClaimKey, artifacts: readonly Omit<JobArtifact, 'claim' | 'at'>[]): Promise<void>
  artifacts(id: JobId): Promise<readonly JobArtifact[]>
  /** Jobs held by a judge now, by machine. */
  heldBy(): Promise<readonly HeldBy[]>
  /** Which of these claims hold their jobs now. */
  heldAmong(claims: readonly ClaimKey[]): Promise<readonly Pick<HeldBy, 'claimId' | 'ownerId'>[]>
  /**
   * Makes room for so many bytes in all in one of a job's logs, as far as the log's own bound (`JOB_LOGS`) and its owner's share
   * allow. False: there is none, and the log is full.
   */
  makeRoom(id: JobId, log: WrittenLog, endBytes: number): Promise<boolean>
  /** Removes a job that is not at work, with inputs, logs (`job/ID/…`), artifacts and holds. False: it runs, or there is none. */
  delete(id: JobId): Promise<boolean>
  /**
   * Cancels what deleted and disabled owners left. Deletes jobs whose time is over, ended or never started, and holds of jobs that
   * were never added (older than an hour). Answers how many jobs.
   */
  sweep(): Promise<number>
}

/** A job under the claim of a judge. */
export interface HeldBy {
  readonly machineId: string
  readonly jobId: JobId
  readonly claimId: string
  readonly ownerId: UserId | null
}

/** The name of one of a job's logs. */
export const jobLog = (id: JobId, log: WrittenLog): string => `job/${id}/${log}`
/** The lane in the queue for what an owner starts. What nobody owns shares one. */
export const laneOf = (ownerId: UserId | null): string => ownerId ?? ''
/** Who holds the blobs of a job. */
export const jobHolder = (id: JobId): string => `job/${id}`
