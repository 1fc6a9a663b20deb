import { type JobId, type Judge, iso } from '@parley/protocol'
import type { JudgeRecord } from '@parley/store'
import { isHere } from '../presence/judges-here.ts'
import type { JudgeWorld } from './judge-world.ts'

const LISTED_MS = 86_400_000

/** The judges that are here, as admins see them; `gone` adds those of the last day that are not. */
export async function judgeViews(
  { store, desk, now }: Pick<JudgeWorld, 'store' | 'desk' | 'now'>,
  { gone }: { readonly gone: boolean },
): Promise<{ items: Judge[] }> {
  const [judges, held] = await Promise.all([store.judges.list(now() - LISTED_MS), store.jobs.heldBy()])
  const jobs = Map.groupBy(held, ({ machineId }) => machineId)
  const items = judges.map((judge) => {
    const ids = (jobs.get(judge.machineId) ?? []).map(({ jobId }) => jobId)
    return viewOf(judge, ids, isHere(judge, now(), desk.leaseMs))
  })
  return { items: gone ? items : items.filter(({ state }) => state !== 'gone') }
}

function viewOf(judge: JudgeRecord, jobs: JobId[], here: boolean): Judge {
  return {
    machine_id: judge.machineId,
    name: judge.name,
    state: stateOf(judge, jobs.length, here),
    drain: judge.drain,
    first_seen_at: iso(judge.firstSeenAt),
    last_seen_at: iso(judge.lastSeenAt),
    jobs,
    facts: judge.facts,
  }
}

/** One that asks for no more work finishes what it holds, and is gone then. */
function stateOf({ drain }: JudgeRecord, jobs: number, here: boolean): Judge['state'] {
  if (!here) return jobs > 0 ? 'draining' : 'gone'
  if (drain) return 'draining'
  return jobs > 0 ? 'busy' : 'idle'
}
