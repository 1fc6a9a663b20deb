import { TOOLS } from '@parley/protocol'
import { createJob, retryJob } from '../job/create-job.ts'
import { findJob } from '../job/find-job.ts'
import { serveTool } from './served-tool.ts'
import { iso } from './time.ts'

export const jobCreate = serveTool(TOOLS['job.create'], async (args, context) => {
  const job = await context.world.creations.run(context.caller, () => createJob(args, context))
  return { job_id: job.id, status: job.status, created_at: iso(job.createdAt) }
})

export const jobRetry = serveTool(TOOLS['job.retry'], async ({ job_id }, context) => {
  context.target = job_id
  const { store, creations } = context.world
  const { ownerId: userId } = await findJob(store, job_id, context.caller)
  const job = await creations.run({ userId }, () => retryJob(job_id, context))
  return { job_id: job.id, status: job.status, created_at: iso(job.createdAt), retry_of: job_id }
})
