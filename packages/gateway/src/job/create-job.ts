import { JobId, ToolError, isEnd, makeId } from '@parley/protocol'
import { type JobInputs, type JobRecord, NotFound, jobHolder } from '@parley/store'
import { storeTests } from '../tests-zip/tests-zip.ts'
import { atField } from '../tests-zip/zip-refused.ts'
import type { ToolContext } from '../tool/served-tool.ts'
import { checkPriced } from './check-priced.ts'
import { type CreateArguments, checkCreate, checkRoute } from './create-checks.ts'
import { specOf } from './create-spec.ts'
import { findJob, noSuchJob } from './find-job.ts'
import { checkShare, checkUnfinished, holderOf } from './inputs-share.ts'
import { type HandedTests, readTests } from './inputs-tests.ts'

/**
 * Makes a job of what was handed in. Everything that can be refused is refused before the first byte is kept. Killed
 * between the commit of the inputs and the job: the sweep drops what `job/ID` holds without a job after an hour.
 */
export async function createJob(args: CreateArguments, context: ToolContext): Promise<JobRecord> {
  const { caller, world } = context
  const { store } = world
  const { code } = checkCreate(args)
  await checkUnfinished(store, caller)
  const route = await checkRoute(args, world.directory)
  const tests = await readTests(args, store.blobs, holderOf(caller))
  const id = newId(context)
  const spec = specOf(args, { id, ownerId: caller.userId, code, channel: route?.channel ?? null }, tests)
  const kept = tests === undefined ? { blob: null, files: [] } : await keep(tests, id, context)
  return store.jobs.add({ id, ownerId: caller.userId, inputs: { spec, ...kept, cases: tests?.discovery.cases ?? [] } })
}

async function keep(
  { field, zip }: HandedTests,
  id: JobId,
  { caller, call, world: { store } }: ToolContext,
): Promise<Pick<JobInputs, 'blob' | 'files'>> {
  await checkShare(store, caller, zip.totalBytes, field)
  const goOn = (): void => {
    if (call?.signal.aborted === true) throw new ToolError('unavailable', 'the call was given up before all tests were kept')
  }
  return atField(field, () => storeTests(zip, store.blobs, { owner: holderOf(caller), holder: jobHolder(id), goOn }))
}

/** A new job of its owner from the inputs of one that ended, started; in the owner's lane (`creations`). The inputs are held for it before it is there. */
export async function retryJob(old: JobId, context: ToolContext): Promise<JobRecord> {
  const { caller, world } = context
  const { store } = world
  const job = await findJob(store, old, caller)
  if (!isEnd(job.status))
    throw new ToolError('conflict', `the job is ${job.status}`, {
      field: 'job_id',
      hint: 'job.cancel first, or job.start a new one',
    })
  await checkUnfinished(store, { userId: job.ownerId })
  await world.quotas.checkStart(job)
  await checkPriced(world, job)
  const { model, upstream_channel: channel } = job.spec
  if (model !== null) await world.directory.resolve(model, channel)
  const inputs = await store.jobs.inputs(old)
  if (inputs === undefined) throw noSuchJob(old)
  const id = newId(context)
  try {
    if (inputs.blob !== null) await store.blobs.hold(inputs.blob, jobHolder(id))
  } catch (error) {
    // Deleted meanwhile, and its inputs with it.
    throw error instanceof NotFound ? noSuchJob(old) : error
  }
  const spec = { ...inputs.spec, job_id: id }
  const added = await store.jobs.add({ id, ownerId: job.ownerId, inputs: { ...inputs, spec }, retryOf: old })
  return (await store.jobs.start(id)) ?? added
}

function newId(context: ToolContext): JobId {
  const id = makeId(JobId, 'job', context.world.random)
  context.target = id
  return id
}
