import type { AgentId, UserId } from '@parley/protocol'
import { type Queries, type Row, type Transaction, LeaseLost, NotFound } from '@parley/database'
import { type LeaseFence, fenceValues } from '../../lease/fence.ts'
import { queueSignal } from '../../lease/sql-leases.ts'
import { CHECK_FOR_CHANGE, OFFER } from '../../lease/statements.ts'
import { topicSignal } from '../../topic/signal-topics.ts'
import { isPresent } from '../access/enabled.ts'
import { AGENT_QUEUE, type AgentRecord, agentTopic, agentsTopic } from './agent.ts'
import { ownerOf, toAgent } from './row.ts'
import { AGENT, AGENT_FOR_CHANGE, OWNER_OF } from './statements.ts'

/** Whose agent it is. */
export interface Owned {
  readonly id: AgentId
  readonly ownerId: UserId
}

export async function readAgent(queries: Queries, id: AgentId, now: number): Promise<AgentRecord | undefined> {
  const row = await queries.get(AGENT, [now, id])
  return row && toAgent(row)
}

/** The agent as it is now, after a change in this transaction. */
export async function changedAgent(tx: Transaction, id: AgentId, now: number): Promise<AgentRecord> {
  const agent = await readAgent(tx, id, now)
  if (agent === undefined) throw new TypeError(`agent ${id} vanished inside a transaction`)
  return agent
}

/** The owner of an agent that is there. An agent never changes hands, so this needs no lock. */
export async function findOwner(tx: Transaction, id: AgentId): Promise<UserId> {
  const row = await tx.get(OWNER_OF, [id])
  if (row === undefined) throw new NotFound(`agent ${id}`)
  return ownerOf(row)
}

/** The row of an agent that is not being deleted, kept until the commit. */
export async function lockActive(tx: Transaction, id: AgentId): Promise<Row> {
  const row = await tx.get(AGENT_FOR_CHANGE, [id])
  if (row === undefined) throw new NotFound(`agent ${id}`)
  return row
}

/** As `lockActive`, and its owner is neither deleted nor disabled, and does not become so before the commit. */
export async function lockUsable(tx: Transaction, id: AgentId): Promise<Owned & { readonly row: Row }> {
  const ownerId = await findOwner(tx, id)
  if (!(await isPresent(tx, ownerId))) throw new NotFound(`agent ${id}`)
  return { id, ownerId, row: await lockActive(tx, id) }
}

/** Puts an agent that `lockUsable` gave into the queue of those that are to be awake. False when it is there already. */
export async function wakeLocked(tx: Transaction, agent: Owned): Promise<boolean> {
  if ((await tx.run(OFFER, [AGENT_QUEUE, agent.id, '', 0, agent.ownerId])) === 0) return false
  tx.signal(queueSignal(AGENT_QUEUE))
  announceListed(tx, agent)
  return true
}

/** The agent and its lease, kept until the commit; `LeaseLost` unless this fence holds now. An agent that is gone is lost, too. */
export async function lockHeld(tx: Transaction, fence: LeaseFence, now: number): Promise<Row> {
  const row = await tx.get(AGENT_FOR_CHANGE, [fence.key])
  const isHeld = fence.queue === AGENT_QUEUE && (await tx.get(CHECK_FOR_CHANGE, fenceValues(fence, now))) !== undefined
  if (row === undefined || !isHeld) throw new LeaseLost(fence)
  return row
}

/** Tells those who look at this agent. */
export function announceAgent(tx: Transaction, id: AgentId): void {
  tx.signal(topicSignal(agentTopic(id)))
}

/** Tells those who look at this agent, and those who look at a list that it is in. */
export function announceListed(tx: Transaction, { id, ownerId }: Owned): void {
  announceAgent(tx, id)
  tx.signal(topicSignal('agents'))
  tx.signal(topicSignal(agentsTopic(ownerId)))
}
