import type { AgentId } from '@parley/protocol'
import type { Transaction } from '@parley/database'
import { WITHDRAW } from '../../lease/statements.ts'
import { logSignal } from '../../log/head.ts'
import { DELETE as DELETE_LOG } from '../../log/statements.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { revokeAgentTokens } from '../access/revoke.ts'
import { AGENT_QUEUE, type AgentRecord, callsLog, transcriptLog } from './agent.ts'
import { ownerOf } from './row.ts'
import { MARK, REMOVE, REMOVE_TOKENS } from './statements.ts'
import { announceListed, readAgent } from './steps.ts'

/** active → deleting. Whoever holds it finds its lease lost, and whoever comes with its token is refused. */
export async function markAgent(tx: Transaction, id: AgentId, now: number): Promise<AgentRecord | undefined> {
  const marked = await tx.get(MARK, [id, now])
  if (marked !== undefined) {
    await tx.run(WITHDRAW, [AGENT_QUEUE, id])
    await revokeAgentTokens(tx, id, now)
    announceListed(tx, { id, ownerId: ownerOf(marked) })
  }
  return readAgent(tx, id, now)
}

/** Removes an agent that was marked, and everything that is its own; its tokens were revoked before, and say nothing any more. */
export async function removeAgent(tx: Transaction, id: AgentId): Promise<boolean> {
  const row = await tx.get(REMOVE, [id])
  if (row === undefined) return false
  if ((await tx.run(REMOVE_TOKENS, [id])) > 0) tx.signal(topicSignal('tokens'))
  for (const log of [callsLog(id), transcriptLog(id)]) if ((await tx.run(DELETE_LOG, [log])) > 0) tx.signal(logSignal(log))
  announceListed(tx, { id, ownerId: ownerOf(row) })
  return true
}
