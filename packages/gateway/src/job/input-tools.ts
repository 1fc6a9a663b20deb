import { type JobId, TOOLS, wrongArgument } from '@parley/protocol'
import { findJob, noSuchJob } from './find-job.ts'
import { type HandedIn, handedIn } from './handed-in.ts'
import { type JobContext, serveTool } from './job-world.ts'

export const jobGetInput = serveTool(TOOLS['job.get_input'], async ({ job_id }, context) => {
  const files = await filesOf(context, job_id)
  return { job_id, items: files.map(({ path, bytes }) => ({ path, bytes })) }
})

export const jobReadInput = serveTool(TOOLS['job.read_input'], async ({ job_id, path, offset, max_bytes }, context) => {
  const file = (await filesOf(context, job_id)).find((candidate) => candidate.path === path)
  if (file === undefined) throw wrongArgument('path', 'is none of the files that were handed in', 'job.get_input lists them')
  const bytes = await file.read(offset, max_bytes)
  if (bytes === undefined) throw noSuchJob(job_id)
  const next = Math.min(offset, file.bytes) + bytes.length
  return {
    job_id,
    path,
    offset,
    chunk_b64: Buffer.from(bytes).toString('base64'),
    next_offset: next,
    eof: next >= file.bytes,
  }
})

/** For whoever may see the job: its owner handed all of it in, hidden tests too. Judges and agents have other ways. */
async function filesOf({ world, caller }: JobContext, id: JobId): Promise<readonly HandedIn[]> {
  await findJob(world.store, id, caller)
  const inputs = await world.store.jobs.inputs(id)
  if (inputs === undefined) throw noSuchJob(id)
  return handedIn(inputs, world.store.blobs)
}
