import { type GatewayCaller, type Lanes, openLanes } from '@parley/access'
import { ToolError } from '@parley/protocol'
import { ShareExceeded, personHolder } from '@parley/store'

const KIB = 1024
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
/** Calls of one person that wait for the one before. */
const CREATIONS_WAITING_MAX = 1_024

type Person = Pick<GatewayCaller, 'userId'>

/** Who holds a person's uploads, and owns those under way. */
export const holderOf = ({ userId }: Person): string => personHolder(userId)

/** Does what adds to somebody's share; what goes beyond it is refused at the field that brought it, in words that say what to delete. */
export async function withinShare<Result>(
  { field, whose = 'your' }: { readonly field?: string; readonly whose?: 'your' | 'the owner’s' },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ShareExceeded ? shareRefusal(error, field, whose) : error
  }
}

function shareRefusal(error: ShareExceeded, field: string | undefined, whose: string): ToolError {
  const [fault, hint] = WORDS[error.bound](error.limit, whose)
  const at = error.bound === 'bytes' ? field : undefined
  return new ToolError('quota_exceeded', at === undefined ? fault : `${at}: ${fault}`, {
    hint,
    cause: error,
    ...(at === undefined ? {} : { field: at }),
  })
}

const RAISE = 'an admin can raise the share with user.set_quota'
const WORDS: Record<ShareExceeded['bound'], (limit: number, whose: string) => readonly [fault: string, hint: string]> = {
  bytes: (limit, whose) => [
    `beyond ${whose} share of ${sizeText(limit)}`,
    `job.delete frees what a job holds, its texts and logs at once and its files within half an hour; an upload that no job was made from lately goes within a day; ${RAISE}`,
  ],
  jobs: (limit, whose) => [
    `${limit} of ${whose} jobs are kept, and no more may be`,
    `job.delete those that are not needed, which job.list shows; each goes by itself a week after its end; ${RAISE}`,
  ],
  unfinished: (limit, whose) => [
    `${limit} of ${whose} jobs are not finished`,
    'wait for some of them, or job.cancel or job.delete those that are not needed',
  ],
  jobs_at_once: (limit) => [
    `jobs_at_once: ${limit} jobs wait or run, which is the most; free again when one of them ends`,
    'usage.summary shows your quota; an admin can change it',
  ],
  allowances: (limit) => [
    `${limit} things are allowed to this agent for a while, and no more may be`,
    'policy.get lists them and policy.disallow ends one; a rule of its policy can stand for many',
  ],
  uploads: (limit) => [
    `${limit} uploads of yours are under way`,
    'blob.commit or blob.abort one of them; one that is not touched for an hour goes by itself',
  ],
  kept_uploads: (limit) => [
    `${limit} uploads of yours are kept or under way, and no more may be`,
    'each goes by itself a day after its last use; hand in many files as one zip',
  ],
  agents: (limit, whose) => [`${limit} of ${whose} agents are there, and no more may be`, 'agent.delete one that is not needed'],
  mounts: (limit) => [`an agent has ${limit} mounts at most`, 'mount.detach one that is not needed'],
  approvals: (limit) => [
    `${limit} approvals wait already, and no more may`,
    'somebody decides about some of them, or they expire by themselves',
  ],
  calls: (limit) => [
    `${limit} calls of this agent go on in the background, and no more may`,
    'wait for some of them, or end one with loop_cancel',
  ],
  prompts: (limit) => [
    `${limit} prompts wait for this agent, and no more may`,
    'wait for some of them, or agent.abort with queued takes them back',
  ],
  subscriptions: (limit) => [
    `an agent listens to ${limit} resources at most`,
    'resources_unsubscribe from one that is not needed',
  ],
}

/** In the largest unit that has it as a whole number. */
function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  for (; size > 0 && size % KIB === 0 && unit + 1 < UNITS.length; unit += 1) size /= KIB
  return `${size} ${UNITS[unit]}`
}

/**
 * What a person makes goes one after the other, so that no two of their zips are unpacked at once. That nothing passes a bound
 * together, also between gateways, the store sees to.
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
