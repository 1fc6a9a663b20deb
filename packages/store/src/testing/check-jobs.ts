import { isEnd } from '@parley/protocol'
import { JOB_QUEUE, type JobRecord, jobLog } from '../record/job/job.ts'
import type { Store } from '../store.ts'
import type { Acknowledged } from './acknowledged.ts'
import { endJob } from './sample-job.ts'

/** Longer than a worker's leases. */
const DRAIN_WAIT_MS = 3_000
const TTL_MS = 60_000
const PAGE = 500
const CLAIM = { machineId: 'auditor', maxLost: 1_000, keptMs: 60_000 }

/** What was started is there and can be ended once; what was ended stays so, with its report, and is offered to nobody. */
export async function checkJobs(store: Store, all: readonly Acknowledged[]): Promise<readonly string[]> {
  const before = await allJobs(store)
  const problems = [...before.values()].flatMap((job) => oddities(job))
  for (const each of all) {
    if (each.kind === 'job' && !before.has(each.id)) problems.push(`${each.id} is lost`)
    if (each.kind === 'end' && before.get(each.id)?.status !== 'succeeded') problems.push(`the end of ${each.id} is lost`)
  }
  const ended = await endAll(store)
  for (const [id, job] of before) {
    const times = ended.filter((other) => other === id).length
    const expected = isEnd(job.status) || job.status === 'created' ? 0 : 1
    if (times !== expected) problems.push(`${id} was ${job.status} and was then ended ${times} times`)
    if (job.status === 'created') continue
    const { entries } = await store.logs.read(jobLog(job.id, 'terminal'), { from: { seq: 0 }, maxBytes: PAGE })
    if (!isPoisoned(job) && entries.length === 0) problems.push(`${id} ended without its log`)
  }
  const left = await store.leases.count(JOB_QUEUE)
  if (left.waiting + left.held > 0) problems.push(`${left.waiting + left.held} leases are left without a job`)
  return problems
}

const isPoisoned = (job: JobRecord): boolean => job.error?.code === 'poisoned'

function oddities(job: JobRecord): readonly string[] {
  if (!isEnd(job.status)) return job.finishedAt === null ? [] : [`${job.id} is ${job.status} and has finished`]
  const problems = job.finishedAt === null || job.expiresAt === null ? [`${job.id} ended at no time`] : []
  if (!isPoisoned(job) && !job.artifactNames.includes('report.json')) problems.push(`${job.id} ended without its report`)
  return problems
}

/** Takes and ends whatever is offered, until nothing comes any more. */
async function endAll(store: Store): Promise<readonly string[]> {
  const ended: string[] = []
  for (;;) {
    const lease = await store.leases.claim(JOB_QUEUE, CLAIM.machineId, { ttlMs: TTL_MS, waitMs: DRAIN_WAIT_MS })
    if (lease === undefined) return ended
    const id = `${ended.length}`.padStart(32, '0')
    const taken = await store.jobs.claimed(lease, { id, ...CLAIM })
    if (taken?.kind !== 'claimed') continue
    const key = { jobId: taken.job.id, claimId: id }
    await endJob(store, key, TTL_MS)
    await store.jobs.release(key, { countLoss: true })
    ended.push(taken.job.id)
  }
}

async function allJobs(store: Store): Promise<ReadonlyMap<string, JobRecord>> {
  const jobs = new Map<string, JobRecord>()
  for (let last: JobRecord | undefined; ;) {
    const before = last === undefined ? {} : { beforeCreatedAt: last.createdAt, beforeId: last.id }
    const page = await store.jobs.list({ ...before, limit: PAGE })
    last = page.at(-1)
    if (last === undefined) return jobs
    for (const job of page) jobs.set(job.id, job)
  }
}
