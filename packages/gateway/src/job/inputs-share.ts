import { JOB_LIMITS, ToolError } from '@parley/protocol'
import type { Blobs, Jobs } from '@parley/store'
import type { GatewayCaller } from '../caller.ts'
import { type Lanes, openLanes } from '../limit/lanes.ts'

const GIB = 1024 ** 3
/** Jobs of one person that wait or run. */
export const UNFINISHED_JOBS_MAX = 1_000
/** Calls of one person that wait for the one before. */
const CREATIONS_WAITING_MAX = 1_024

type Person = Pick<GatewayCaller, 'userId'>
interface Shares {
  readonly blobs: Pick<Blobs, 'heldBytes'>
  readonly jobs: Pick<Jobs, 'heldBytes' | 'unfinished'>
}

/** Who holds a person's uploads, and owns those under way; `user/local` behind the admin socket. */
export const holderOf = ({ userId }: Person): string => `user/${userId ?? 'local'}`
export const HOLDER_PREFIX = 'user/'

/**
 * Refuses what goes beyond a person's share. What counts: uploads under way, uploads that are kept, and the inputs and
 * artifacts of their jobs as long as the jobs are there; the same bytes once, however many jobs have them.
 */
export async function checkShare(store: Shares, person: Person, addedBytes: number, field: string): Promise<void> {
  const bytes = await store.jobs.heldBytes(person.userId)
  await checkUploads(store, person, bytes + addedBytes, field)
}

/** As `checkShare`, without a look at the jobs: for every chunk of an upload, whose jobs are counted when it begins and ends. */
export async function checkUploads(
  store: Pick<Shares, 'blobs'>,
  person: Person,
  addedBytes: number,
  field: string,
): Promise<void> {
  const holder = holderOf(person)
  if ((await store.blobs.heldBytes(holder, holder)) + addedBytes <= JOB_LIMITS.userBytes) return
  throw new ToolError('quota_exceeded', `${field}: beyond your share of ${JOB_LIMITS.userBytes / GIB} GiB`, {
    field,
    hint: 'job.delete frees what a job holds; an upload that no job was made from lately goes within a day',
  })
}

/** Refuses one more job while too many wait or run. */
export async function checkUnfinished(store: Pick<Shares, 'jobs'>, person: Person): Promise<void> {
  if ((await store.jobs.unfinished(person.userId)) < UNFINISHED_JOBS_MAX) return
  throw new ToolError('quota_exceeded', `${UNFINISHED_JOBS_MAX} of your jobs are not finished`, {
    hint: 'wait for some of them, or job.cancel or job.delete those that are not needed',
  })
}

/**
 * What a person makes goes one after the other, so that each is measured against what the one before has taken. Two
 * gateways on one database may let one more through each.
 */
export interface Creations {
  run<Result>(person: Person, work: () => Promise<Result>): Promise<Result>
}

export function openCreations(): Creations {
  const lanes = new Map<string, { readonly lane: Lanes; users: number }>()
  return {
    async run(person, work) {
      const name = holderOf(person)
      const mine = lanes.get(name) ?? { lane: openLanes({ atOnce: 1, waiting: CREATIONS_WAITING_MAX }), users: 0 }
      lanes.set(name, mine)
      mine.users += 1
      try {
        return await mine.lane.run(work)
      } finally {
        mine.users -= 1
        if (mine.users === 0) lanes.delete(name)
      }
    },
  }
}
