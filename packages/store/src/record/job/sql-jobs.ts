import { JOB_LIMITS, JobId, JobStatus, UserId, type WrittenLog } from '@parley/protocol'
import { type Database, type Row, AlreadyExists, parsedOrNull, text, textOrNull } from '@parley/database'
import type { Lease } from '../../lease/lease.ts'
import { MAX_LEASE_TTL_MS, MAX_LIST, checkInteger, checkName } from '../../limits.ts'
import { checkAtOnce, checkBytes, checkJobCount, lockShare } from '../../share/steps.ts'
import { checkOwner } from '../access/enabled.ts'
import { findArtifacts, putJudged, takeInputs } from './artifacts.ts'
import { releaseClaim, renewClaim, markClaimed } from './claims.ts'
import {
  type ClaimKey,
  type HeldBy,
  JOB_QUEUE,
  type JobArtifact,
  type JobInputs,
  type JobRecord,
  type Jobs,
  type StatePatch,
} from './job.ts'
import { FIRST_ROOM_BYTES, createLogs, makeRoom } from './logs.ts'
import { deleteJob, sweepJobs } from './removal.ts'
import { fromInputs, toInputs, toJob } from './row.ts'
import * as sql from './statements.ts'
import { announceListed, changedJob, readJob, lockHeld } from './steps.ts'
import { cancelJob, cancelled, patchJob, startJob } from './transitions.ts'

/** Jobs held at once, over all judges. */
const MAX_HELD = 10_000

/** Jobs as rows, each transition in one transaction with its lease. */
export class SqlJobs implements Jobs {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async add({ id, ownerId, inputs, retryOf }: Parameters<Jobs['add']>[0]): Promise<JobRecord> {
    const { outline, spec, files, cases } = fromInputs(inputs)
    const texts = [outline, spec, files, cases].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const keptBytes = texts + FIRST_ROOM_BYTES
    const now = this.#now()
    return this.#db.transaction(async (tx) => {
      const bounds = await lockShare(tx, ownerId)
      if (ownerId !== null) await checkOwner(tx, ownerId)
      await checkJobCount(tx, ownerId, bounds, 1)
      if ((await tx.run(sql.ADD, [id, ownerId, outline, retryOf ?? null, now, now + JOB_LIMITS.keptMs, keptBytes])) === 0)
        throw new AlreadyExists(`job ${id}`)
      if (inputs.blob !== null) await takeInputs(tx, inputs.blob, { id, ownerId, retryOf })
      await tx.run(sql.ADD_INPUTS, [id, spec, inputs.blob, files, cases])
      await createLogs(tx, id)
      // Measured when all is written: bytes that the owner has already count once.
      await checkBytes(tx, ownerId, bounds, 0)
      const job = await changedJob(tx, id)
      announceListed(tx, job)
      return job
    })
  }

  async byId(id: JobId): Promise<JobRecord | undefined> {
    return readJob(this.#db, id)
  }

  async list(page: Parameters<Jobs['list']>[0]): Promise<readonly JobRecord[]> {
    const { ownerId, statuses, beforeCreatedAt = Number.MAX_SAFE_INTEGER, beforeId = '', limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    const [first] = statuses ?? JobStatus.options
    if (first === undefined) return []
    const owner = ownerId === undefined ? 'anybody' : ownerId === null ? 'nobody' : 'one'
    const rows = await this.#db.all(sql.listSql(owner, statuses !== undefined), [
      beforeCreatedAt,
      beforeId,
      limit,
      ...(typeof ownerId === 'string' ? [ownerId] : []),
      // As many as there are places: the first one fills what is left.
      ...(statuses === undefined ? [] : JobStatus.options.map((status) => (statuses.includes(status) ? status : first))),
    ])
    return rows.map(toJob)
  }

  async inputs(id: JobId): Promise<JobInputs | undefined> {
    const row = await this.#db.get(sql.INPUTS, [id])
    return row && toInputs(row)
  }

  async start(id: JobId, { atOnce = null }: Parameters<Jobs['start']>[1] = {}): Promise<JobRecord | undefined> {
    if (atOnce !== null) checkInteger('atOnce', atOnce, 0)
    return this.#db.transaction(async (tx) => {
      const owner = await tx.get(sql.OWNER_OF, [id])
      if (owner !== undefined && text(owner, 'status') === 'created') {
        const ownerId = parsedOrNull(UserId, textOrNull(owner, 'owner_id'))
        await checkBytes(tx, ownerId, await lockShare(tx, ownerId), 0)
        if (atOnce !== null) await checkAtOnce(tx, ownerId, atOnce)
      }
      return startJob(tx, id)
    })
  }

  async cancel(
    id: JobId,
    { by, keptMs = JOB_LIMITS.keptMs }: Parameters<Jobs['cancel']>[1] = {},
  ): Promise<JobRecord | undefined> {
    checkInteger('keptMs', keptMs, 0)
    return this.#db.transaction((tx) => cancelJob(tx, id, { reason: cancelled(by), now: this.#now(), keptMs }))
  }

  async claimed(lease: Lease, claim: Parameters<Jobs['claimed']>[1]): ReturnType<Jobs['claimed']> {
    checkName('claim.id', claim.id)
    checkName('claim.machineId', claim.machineId)
    if (claim.judgeName !== undefined) checkName('claim.judgeName', claim.judgeName)
    checkInteger('claim.maxLost', claim.maxLost, 1)
    checkInteger('claim.keptMs', claim.keptMs, 0)
    return this.#db.transaction((tx) => markClaimed(tx, lease, claim, this.#now()))
  }

  async renew(key: ClaimKey, ttlMs: number): ReturnType<Jobs['renew']> {
    checkInteger('ttlMs', ttlMs, 1, MAX_LEASE_TTL_MS)
    return renewClaim(this.#db, key, ttlMs, this.#now())
  }

  async patch(key: ClaimKey, patch: StatePatch, keptMs: number): Promise<JobRecord> {
    checkInteger('keptMs', keptMs, 0)
    return this.#db.transaction((tx) => patchJob(tx, key, patch, { now: this.#now(), keptMs }))
  }

  async release(key: ClaimKey, options: Parameters<Jobs['release']>[1]): Promise<void> {
    checkInteger('notBefore', options.notBefore ?? 0, 0)
    return this.#db.transaction((tx) => releaseClaim(tx, key, options, this.#now()))
  }

  async putArtifacts(key: ClaimKey, artifacts: readonly Omit<JobArtifact, 'claim' | 'at'>[]): Promise<void> {
    await this.#db.transaction(async (tx) => putJudged(tx, await lockHeld(tx, key, this.#now()), artifacts, this.#now()))
  }

  async artifacts(id: JobId): Promise<readonly JobArtifact[]> {
    return findArtifacts(this.#db, id)
  }

  async heldBy(): Promise<readonly HeldBy[]> {
    const rows = await this.#db.all(sql.HELD_BY, [JOB_QUEUE, this.#now(), MAX_HELD])
    return rows.map((row) => ({ machineId: text(row, 'machine_id'), jobId: JobId.parse(text(row, 'id')), ...claimOf(row) }))
  }

  async heldAmong(claims: readonly ClaimKey[]): Promise<readonly Pick<HeldBy, 'claimId' | 'ownerId'>[]> {
    checkInteger('claims', claims.length, 0, MAX_HELD)
    const jobs = JSON.stringify(claims.map(({ jobId }) => jobId))
    const rows = await this.#db.all(sql.HELD_AMONG, [JOB_QUEUE, this.#now(), jobs])
    const named = new Set(claims.map(({ jobId, claimId }) => `${jobId} ${claimId}`))
    return rows.filter((row) => named.has(`${text(row, 'id')} ${text(row, 'claim_id')}`)).map(claimOf)
  }

  async makeRoom(id: JobId, log: WrittenLog, endBytes: number): Promise<boolean> {
    checkInteger('endBytes', endBytes, 0)
    return this.#db.transaction((tx) => makeRoom(tx, id, log, endBytes))
  }

  async delete(id: JobId): Promise<boolean> {
    return this.#db.transaction((tx) => deleteJob(tx, id, this.#now()))
  }

  async sweep(): Promise<number> {
    return sweepJobs(this.#db, this.#now())
  }
}

const claimOf = (row: Row): Pick<HeldBy, 'claimId' | 'ownerId'> => ({
  claimId: text(row, 'claim_id'),
  ownerId: parsedOrNull(UserId, textOrNull(row, 'owner_id')),
})
