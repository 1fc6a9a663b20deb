import type { SteadyClient } from '@parley/client'
import { type AgentId, type Approval, RESOURCES } from '@parley/protocol'

const PENDING = RESOURCES['resource://approvals/pending'].uri
/** The list is read again after this also when nobody said that it changed: a gateway that started again says nothing of what was before. */
const LOOK_MS = 5_000
/** However fast it changes, it is not read again before this. */
const SETTLE_MS = 250
const PAGE = 200
const PAGES_MAX = 50

export interface FollowPendingOptions {
  readonly heard: (items: readonly Approval[]) => void
  readonly signal: AbortSignal
  /** Only what this agent wants to do. */
  readonly of?: AgentId
}

/** Tells what waits for somebody, oldest first, now and whenever that may have changed, until the signal. */
export async function followPending(caller: SteadyClient, { heard, signal, of }: FollowPendingOptions): Promise<void> {
  let wake = (): void => undefined
  const ignore = caller.follow({
    // Where it cannot be watched, it is looked at often enough.
    connected: (connection) => void connection.subscribe(PENDING, () => wake()).catch(() => undefined),
  })
  try {
    while (!signal.aborted) {
      const changed = new AbortController()
      wake = () => changed.abort()
      heard(await readPending(caller, of === undefined ? {} : { agent_id: of }, signal))
      await caller.clock.sleep(SETTLE_MS, signal)
      await caller.clock.sleep(LOOK_MS - SETTLE_MS, AbortSignal.any([changed.signal, signal])).catch(() => undefined)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    ignore()
  }
}

async function readPending(
  caller: SteadyClient,
  whose: { readonly agent_id?: AgentId },
  signal: AbortSignal,
): Promise<readonly Approval[]> {
  const found: Approval[] = []
  let from: { readonly cursor?: string } = {}
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { items, next_cursor: cursor } = await caller.call('approval.list', { limit: PAGE, ...whose, ...from }, { signal })
    found.push(...items)
    if (cursor === null) break
    from = { cursor }
  }
  return found.toReversed()
}
