import { JOB_LIMITS, type JobId, type UserId } from '@parley/protocol'
import { HOLD, TOUCH_BLOB } from '../../blob/statements.ts'
import { type Queries, type Sql, type Transaction, Conflict, NotFound, integer, text } from '@parley/database'
import { checkInteger, checkName } from '../../limits.ts'
import { leftHolder } from '../../share/holder.ts'
import { type JobArtifact, type JobRecord, jobHolder } from './job.ts'
import { announceJob } from './steps.ts'

type NewArtifact = Omit<JobArtifact, 'claim' | 'at'>

/** What a judge hands in, up to the limit. What the gateway writes itself always has room: an end must not fail for it. */
export async function putJudged(tx: Transaction, job: JobRecord, artifacts: readonly NewArtifact[], now: number): Promise<void> {
  // Read after the job was locked: the names in `job` come from the statement that waited for the lock, and may be older.
  const known = await findArtifacts(tx, job.id)
  const names = new Set([...known, ...artifacts].map(({ name }) => name))
  if (names.size > JOB_LIMITS.artifacts)
    throw new Conflict(`job ${job.id} would have more than ${JOB_LIMITS.artifacts} artifacts`)
  await putArtifacts(tx, job, artifacts, now)
}

/** Puts artifacts beside those of other names. Blobs that nothing of the job refers to any more are let go. */
async function putArtifacts(tx: Transaction, job: JobRecord, artifacts: readonly NewArtifact[], now: number): Promise<void> {
  const replaced = new Set<string>()
  for (const artifact of artifacts) {
    checkArtifact(artifact)
    const old = await tx.get(ONE, [job.id, artifact.name])
    if (old !== undefined && text(old, 'sha256') === artifact.sha256) continue
    await checkHeld(tx, artifact.sha256, jobHolder(job.id))
    const { name, attempt, sha256, bytes } = artifact
    await tx.run(PUT, [job.id, name, attempt, job.claims, sha256, bytes, now])
    if (old !== undefined) replaced.add(text(old, 'sha256'))
    announceJob(tx, job)
  }
  for (const sha256 of replaced) {
    if ((await tx.run(DROP_UNUSED, [sha256, jobHolder(job.id), job.id])) === 0) continue
    await tx.run(TOUCH_BLOB, [sha256, now])
    await tx.run(HOLD, [sha256, leftHolder(job.ownerId)])
  }
}

/** The report of a job that no judge could end. */
export async function putReport(
  tx: Transaction,
  job: JobRecord,
  report: { readonly sha256: string; readonly bytes: number },
  now: number,
): Promise<void> {
  await putArtifacts(tx, job, [{ name: 'report.json', attempt: job.attempt, ...report }], now)
}

export async function findArtifacts(queries: Queries, jobId: string): Promise<readonly JobArtifact[]> {
  return (await queries.all(ALL, [jobId])).map((row) => ({
    name: text(row, 'name'),
    attempt: integer(row, 'attempt'),
    claim: integer(row, 'claim'),
    sha256: text(row, 'sha256'),
    bytes: integer(row, 'bytes'),
    at: integer(row, 'at'),
  }))
}

/** The hold is kept until the commit: no sweep can take it before the row that needs it is there. */
async function checkHeld(tx: Transaction, sha256: string, holder: string): Promise<void> {
  if ((await tx.get(HELD, [sha256, holder])) === undefined) throw new NotFound(`blob ${sha256} of ${holder}`)
}

/** Holds the inputs for a job from the commit on. Whoever handed them in, or the job that has them already, must hold them. */
export async function takeInputs(
  tx: Transaction,
  sha256: string,
  job: { readonly id: JobId; readonly ownerId: UserId | null; readonly retryOf: JobId | undefined },
): Promise<void> {
  const own = jobHolder(job.id)
  const holders = [own, leftHolder(job.ownerId), job.retryOf === undefined ? own : jobHolder(job.retryOf)]
  if ((await tx.get(HELD_BY_ANY, [sha256, ...holders])) === undefined) throw new NotFound(`blob ${sha256} of ${own}`)
  await tx.run(HOLD, [sha256, own])
}

function checkArtifact({ name, attempt, sha256, bytes }: NewArtifact): void {
  checkName('name', name)
  checkInteger('attempt', attempt, 0)
  checkName('sha256', sha256)
  checkInteger('bytes', bytes, 0)
}

const ONE: Sql = 'SELECT sha256 FROM job_artifacts WHERE job_id = $1 AND name = $2'
const ALL: Sql = 'SELECT * FROM job_artifacts WHERE job_id = $1 ORDER BY name'
const PUT: Sql = `INSERT INTO job_artifacts (job_id, name, attempt, claim, sha256, bytes, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (job_id, name) DO UPDATE SET attempt = excluded.attempt, claim = excluded.claim, sha256 = excluded.sha256,
    bytes = excluded.bytes, at = excluded.at`
/** $1 blob, $2 holder, $3 job. */
const DROP_UNUSED: Sql = `DELETE FROM blob_holders WHERE sha256 = $1 AND holder = $2
  AND NOT EXISTS (SELECT 1 FROM job_artifacts WHERE job_id = $3 AND sha256 = $1)
  AND NOT EXISTS (SELECT 1 FROM job_inputs WHERE job_id = $3 AND blob = $1)`
const held = (holder: string): Sql => {
  const select = `SELECT 1 AS one FROM blob_holders h JOIN blobs b ON b.sha256 = h.sha256 WHERE h.sha256 = $1 AND h.holder ${holder}`
  return { sqlite: select, postgres: `${select} FOR SHARE OF b, h` }
}
const HELD = held('= $2')
const HELD_BY_ANY = held('IN ($2, $3, $4)')
