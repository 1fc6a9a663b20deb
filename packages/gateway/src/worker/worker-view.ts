import { type ExecutorView, iso } from '@parley/protocol'
import { type WorkerKind, type WorkerRecord, isWorkerHere } from '@parley/store'
import type { WorkerWorld } from './worker-world.ts'

const LISTED_MS = 86_400_000

/** The workers of a kind that are here, as admins see them; `gone` adds those of the last day that are not. */
export async function workerViews(
  { store, now }: Pick<WorkerWorld, 'store' | 'now'>,
  kind: WorkerKind,
  { gone }: { readonly gone: boolean },
): Promise<{ items: ExecutorView[] }> {
  const workers = await store.workers.list(kind, now() - LISTED_MS)
  const items = workers.map((worker) => viewOf(worker, now()))
  return { items: gone ? items : items.filter(({ state }) => state !== 'gone') }
}

function viewOf(executor: WorkerRecord, now: number): ExecutorView {
  const { name, drain, labels, slots, facts, load } = executor
  return {
    name,
    state: stateOf(executor, now),
    drain,
    labels,
    slots,
    first_seen_at: iso(executor.firstSeenAt),
    last_seen_at: iso(executor.lastSeenAt),
    facts,
    load,
  }
}

function stateOf(executor: WorkerRecord, now: number): ExecutorView['state'] {
  if (!isWorkerHere(executor, now)) return 'gone'
  if (executor.drain) return 'draining'
  return executor.load.running > 0 ? 'busy' : 'idle'
}
