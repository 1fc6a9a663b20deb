import { asError, messageOf } from '@parley/protocol'
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
  log('info', `${jobId}: claimed (claim ${claim})`)
  // A judge of this folder may have died with words that nobody has heard, and the job with them come to us.
  if (claim > 1)
    await work.sweep().catch((error: unknown) => log('warn', `${jobId}: what is left of judges stays: ${String(error)}`))
  const unmade = makeFolder(work, name)
  const folder = work.jobFolder(name)
  const logs = await JobLogs.open(job, folder, parts)
  let isTold = false
  try {
    if (unmade !== undefined) throw unmade
    const outcome = await workOn({ ...parts, logs, folder })
    const end = await finish(outcome, { ...parts, logs })
    isTold = true
    log('info', `${jobId}: ${end}`)
    return end
  } catch (error) {
    if (error instanceof ClaimLost || job.reason === 'lost') {
      log('warn', `${jobId}: the claim is lost, the work on it stops`)
      return 'lost'
    }
    log('error', `${jobId}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    isTold = await giveUp(parts, logs, error)
    return 'broken'
  } finally {
    job.end()
    await logs.close()
    if (!isTold) await work.late.keep(folder, name)
    await work.removeJob(name).catch((error: unknown) => log('error', `${jobId}: its folder stays behind: ${String(error)}`))
  }
}

/** Without a folder nothing can be worked on, but that much can be said. */
function makeFolder(work: WorkFolder, name: string): Error | undefined {
  try {
    work.makeJob(name)
    return undefined
  } catch (error) {
    return asError(error)
  }
}

/** The last word about a job that we could not work on. If not even that gets through (false), the lease runs out. */
async function giveUp({ job, log }: RunParts, logs: JobLogs, error: unknown): Promise<boolean> {
  try {
    logs.status({
      stage: 'error',
      level: 'error',
      summary: `this judge failed: ${messageOf(error)}`,
    })
    await logs.flush()
    await job.release('done')
    return true
  } catch (failure) {
    log('warn', `${job.claim.jobId}: could not be given back: ${messageOf(failure)}`)
    return false
  }
}
