import { type AgentStatusItem, JOB_LIMITS, iso, untestedReport } from '@parley/protocol'
import { type JobRecord, type LeaseFence, jobHolder } from '@parley/store'
import type { JudgeWorld } from './judge-world.ts'
import { appendTo } from './append.ts'
import { endBrokenLine } from './whole-lines.ts'

const MESSAGE = `${JOB_LIMITS.lostClaims} judges were lost while they worked on this job, so it is not tried again`

/**
 * Writes the last status line of a job whose last loss is counted now, and stores its report, which becomes the job's when
 * it ends. Whoever was killed in between is followed by one who does it again.
 */
export async function preparePoisoned(
  { store, now }: JudgeWorld,
  job: JobRecord,
  fence: LeaseFence,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const line: AgentStatusItem = {
    ts: iso(now()),
    job_id: job.id,
    attempt: job.attempt,
    stage: 'error',
    level: 'error',
    progress: null,
    summary: MESSAGE,
    meta: { code: 'poisoned', lost_claims: JOB_LIMITS.lostClaims },
    seq: `gateway-${job.claims}`,
  }
  await endBrokenLine(store, job.id, 'agent_status', fence)
  await appendTo(store, job.id, 'agent_status', [Buffer.from(`${JSON.stringify(line)}\n`)], { fence })
  const report = untestedReport(job.spec, {
    jobId: job.id,
    ownerId: job.ownerId,
    attempt: job.attempt,
    claim: job.claims,
    judge: null,
    sandbox: null,
    error: { code: 'poisoned', message: MESSAGE },
  })
  return store.blobs.put(Buffer.from(JSON.stringify(report)), jobHolder(job.id))
}
