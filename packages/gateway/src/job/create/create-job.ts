import { JobId, ToolError, isEnd, makeId } from '@parley/protocol'
import { type JobInputs, type JobRecord, NotFound, ShareExceeded, leftHolder } from '@parley/store'
import { atField, storeTests } from '@parley/tests-zip'
import type { JobContext } from '../job-world.ts'
import { checkPriced } from '../check-priced.ts'
import { type CreateArguments, checkCreate, checkRoute } from './checks.ts'
import { specOf } from './spec.ts'
import { findJob, noSuchJob } from '../find-job.ts'
import { holderOf, withinShare } from '../../blob/inputs-share.ts'
import { type HandedTests, readTests } from './inputs-tests.ts'

/**
 * Makes a job of what was handed in. Everything that can be refused is refused before the first byte is kept. Killed
 * between the commit of the inputs and the job, or refused there: the inputs count as let go of until they are collected.
 */
export async function createJob(args: CreateArguments, context: JobContext): Promise<JobRecord> {
  const { caller, world } = context
  const { store } = world
  const { code } = checkCreate(args)
  await withinShare({}, () => store.shares.check(caller.userId, { jobs: 1 }))
  const route = await checkRoute(args, world.directory)
  const tests = await readTests(args, store.blobs, holderOf(caller))
  const id = newId(context)
  const spec = specOf(args, { id, ownerId: caller.userId, code, channel: route?.channel ?? null }, tests)
  return withinShare({ field: tests?.field ?? 'statement_md' }, async () => {
    const kept = tests === undefined ? { blob: null, files: [] } : await keep(tests, context)
    return store.jobs.add({ id, ownerId: caller.userId, inputs: { spec, ...kept, cases: tests?.discovery.cases ?? [] } })
  })
}

async function keep(
  { field, zip }: HandedTests,
  { caller, call, world: { store } }: JobContext,
): Promise<Pick<JobInputs, 'blob' | 'files'>> {
  await store.shares.check(caller.userId, { bytes: zip.totalBytes })
  const goOn = (): void => {
    if (call?.signal.aborted === true) throw new ToolError('unavailable', 'the call was given up before all tests were kept')
  }
  return atField(field, () => storeTests(zip, store.blobs, { owner: holderOf(caller), holder: leftHolder(caller.userId), goOn }))
}

/** A new job of its owner from the inputs of one that ended, started; in the owner's lane (`creations`). */
export async function retryJob(old: JobId, context: JobContext): Promise<JobRecord> {
  const { caller, world } = context
  const { store } = world
  const job = await findJob(store, old, caller)
  if (!isEnd(job.status))
    throw new ToolError('conflict', `the job is ${job.status}`, {
      field: 'job_id',
      hint: 'job.cancel first, or job.start a new one',
    })
  const whose = job.ownerId === caller.userId ? 'your' : 'the owner’s'
  await withinShare({ whose }, () => store.shares.check(job.ownerId, { jobs: 1 }))
  const bounds = await world.quotas.checkStart(job)
  await checkPriced(world, job)
  const { model, upstream_channel: channel } = job.spec
  if (model !== null) await world.directory.resolve(model, channel)
  const inputs = await store.jobs.inputs(old)
  if (inputs === undefined) throw noSuchJob(old)
  const id = newId(context)
  const spec = { ...inputs.spec, job_id: id }
  return withinShare({ field: 'job_id', whose }, async () => {
    try {
      const added = await store.jobs.add({ id, ownerId: job.ownerId, inputs: { ...inputs, spec }, retryOf: old })
      return (await store.jobs.start(id, bounds)) ?? added
    } catch (error) {
      // One that was made and may not start is of use to nobody.
      if (error instanceof ShareExceeded) await store.jobs.delete(id)
      // Deleted meanwhile, and its inputs with it.
      throw error instanceof NotFound ? noSuchJob(old) : error
    }
  })
}

function newId(context: JobContext): JobId {
  const id = makeId(JobId, 'job', context.world.random)
  context.target = id
  return id
}
