import { finish } from './finish.ts'
import { ClaimLost } from './held-job.ts'
import { JobLogs } from './job-logs.ts'
import type { Log } from './log.ts'
import type { WorkFolder } from './work-folder.ts'
import { type WorkParts, workOn } from './work-on.ts'

export interface RunParts extends Omit<WorkParts, 'logs' | 'folder'> {
  readonly work: WorkFolder
  readonly now: () => number
  readonly log: Log
}

/** `lost`: not ours any more. `broken`: this machine failed; the claim counts, so that three of these end the job. */
export type JobEnd = Awaited<ReturnType<typeof finish>> | 'lost' | 'broken'

/** One job from its claim to its release. Never throws: what goes wrong with one job is no affair of the others. */
export async function runJob(parts: RunParts): Promise<JobEnd> {
  const { job, work, log } = parts
  const { jobId, claimId, claim } = job.claim
  const name = `${jobId}-${claimId}`
  const logs = new JobLogs(job, parts)
  log('info', `${jobId}: claimed (claim ${claim})`)
  try {
    const folder = work.makeJob(name)
    const outcome = await workOn({ ...parts, logs, folder })
    const end = await finish(outcome, { ...parts, logs })
    log('info', `${jobId}: ${end}`)
    return end
  } catch (error) {
    if (error instanceof ClaimLost || job.reason === 'lost') {
      log('warn', `${jobId}: the claim is lost, the work on it stops`)
      return 'lost'
    }
    log('error', `${jobId}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    await giveUp(parts, logs, error)
    return 'broken'
  } finally {
    job.end()
    await work.removeJob(name).catch((error: unknown) => log('error', `${jobId}: its folder stays behind: ${String(error)}`))
  }
}

/** The last word about a job that we could not work on. If not even that gets through, the lease runs out. */
async function giveUp({ job, log }: RunParts, logs: JobLogs, error: unknown): Promise<void> {
  try {
    logs.status({
      stage: 'error',
      level: 'error',
      summary: `this judge failed: ${error instanceof Error ? error.message : String(error)}`,
    })
    await logs.flush()
    await job.release('done')
  } catch (failure) {
    log('warn', `${job.claim.jobId}: could not be given back: ${failure instanceof Error ? failure.message : String(failure)}`)
  }
}
