import type { JobId, Judge } from '@parley/protocol'
import type { JudgeRecord } from '@parley/store'
import { iso } from '../tool/time.ts'
import type { World } from '../tool/served-tool.ts'

const LISTED_MS = 86_400_000
/** A judge that was silent for so many leases is gone. */
const GONE_LEASES = 3

/** The judges of the last day, as admins see them. */
export async function judgeViews({ store, desk, now }: Pick<World, 'store' | 'desk' | 'now'>): Promise<{ items: Judge[] }> {
  const [judges, held] = await Promise.all([store.judges.list(now() - LISTED_MS), store.jobs.heldBy()])
  const jobs = Map.groupBy(held, ({ machineId }) => machineId)
  const goneBefore = now() - GONE_LEASES * desk.leaseMs
  return {
    items: judges.map((judge) => {
      const ids = (jobs.get(judge.machineId) ?? []).map(({ jobId }) => jobId)
      return viewOf(judge, ids, goneBefore)
    }),
  }
}

function viewOf(judge: JudgeRecord, jobs: JobId[], goneBefore: number): Judge {
  return {
    machine_id: judge.machineId,
    name: judge.name,
    state: stateOf(judge, jobs.length, goneBefore),
    drain: judge.drain,
    first_seen_at: iso(judge.firstSeenAt),
    last_seen_at: iso(judge.lastSeenAt),
    jobs,
    facts: judge.facts,
  }
}

function stateOf({ drain, lastSeenAt }: JudgeRecord, jobs: number, goneBefore: number): Judge['state'] {
  if (lastSeenAt < goneBefore) return 'gone'
  if (drain) return 'draining'
  return jobs > 0 ? 'busy' : 'idle'
}
