import type { SteadyClient } from '@parley/client'
import type { Approval } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { canAsk } from '@parley/command-line/commands'
import { approvalLine } from './approval-text.ts'
import { decideByKey } from './decide-by-key.ts'
import { followPending } from './follow-pending.ts'

const INTERRUPTED_EXIT = 130

/** Shows what waits as it comes. Whoever sits at a terminal decides by a key; elsewhere nothing is ever decided. */
export function watchApprovals(caller: SteadyClient, { io, values }: Invocation): Promise<number> {
  const isSeen = io.screen() !== undefined && canAsk(io)
  if (isSeen && !values.has('json')) return decideByKey(caller, io)
  return tellEach(caller, { io, values })
}

/** Each once, for as long as it waits. */
async function tellEach(caller: SteadyClient, { io, values }: Pick<Invocation, 'io' | 'values'>): Promise<number> {
  const left = new AbortController()
  const ignore = io.onSignal(() => left.abort())
  const text = (approval: Approval): string => (values.has('json') ? JSON.stringify(approval) : approvalLine(approval))
  try {
    await followPending(caller, { heard: tellNew((approval) => io.out(`${text(approval)}\n`)), signal: left.signal })
    return INTERRUPTED_EXIT
  } finally {
    ignore()
  }
}

/** Of what waits, each is told once for as long as it does. */
export function tellNew(tell: (approval: Approval) => void): (items: readonly Approval[]) => void {
  let told: ReadonlySet<string> = new Set()
  return (items) => {
    for (const approval of items) if (!told.has(approval.approval_id)) tell(approval)
    told = new Set(items.map(({ approval_id }) => approval_id))
  }
}
