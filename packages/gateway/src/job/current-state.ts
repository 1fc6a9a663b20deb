import type { JobListItem, JobState } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import type { JudgesHere } from '../presence/judges-here.ts'
import { waitingOf } from '../presence/waiting.ts'
import { jobListItemOf, jobStateOf } from './state-view.ts'

/** A job as it is now. Only for one that waits are the judges looked at. */
export async function currentState(here: Pick<JudgesHere, 'read'>, job: JobRecord): Promise<JobState> {
  if (job.status !== 'queued') return jobStateOf(job)
  const { judges, held } = await here.read()
  return jobStateOf(job, waitingOf(job, judges, held))
}

/** The same for a list: one look at the judges for all of them. */
export async function currentItems(here: Pick<JudgesHere, 'read'>, jobs: readonly JobRecord[]): Promise<JobListItem[]> {
  if (!jobs.some(({ status }) => status === 'queued')) return jobs.map((job) => jobListItemOf(job, null))
  const { judges, held } = await here.read()
  return jobs.map((job) => jobListItemOf(job, waitingOf(job, judges, held)))
}
