import { TOOLS, type ToolOutput, iso } from '@parley/protocol'
import type { JobRecord } from '@parley/store'
import { createJob, retryJob } from './create/create-job.ts'
import { findJob } from './find-job.ts'
import { hindranceOf } from '../presence/waiting.ts'
import { type JobContext, serveTool } from './job-world.ts'

export const jobCreate = serveTool(TOOLS['job.create'], async (args, context) => {
  const job = await context.world.creations.run(context.caller, () => createJob(args, context))
  return newJob(job, context)
})

export const jobRetry = serveTool(TOOLS['job.retry'], async ({ job_id }, context) => {
  context.target = job_id
  const { store, creations } = context.world
  const { ownerId: userId } = await findJob(store, job_id, context.caller)
  const job = await creations.run({ userId }, () => retryJob(job_id, context))
  return { ...(await newJob(job, context)), retry_of: job_id }
})

/** The answer about a job that was just made. That judges are at work is nothing to warn of: they will be done. */
async function newJob(job: JobRecord, { world, caller }: JobContext): Promise<ToolOutput<'job.create'>> {
  const { judges } = await world.here.read()
  const hindrance = hindranceOf(job.spec, job.ownerId, judges)
  return {
    job_id: job.id,
    status: job.status,
    created_at: iso(job.createdAt),
    url: pageOf(world.urlFor(caller.host), job),
    warnings: hindrance === null || hindrance.code === 'busy' ? [] : [hindrance],
  }
}

const pageOf = (base: string, { id }: JobRecord): string | null => (base === '' ? null : `${base}/jobs/${id}`)
