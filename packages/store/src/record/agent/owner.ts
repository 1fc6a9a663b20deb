import { AgentId, type UserId } from '@parley/protocol'
import { type Transaction, text } from '@parley/database'
import { AGENT_QUEUE } from './agent.ts'
import { MARK_OF, WITHDRAW_OF } from './statements.ts'
import { announceListed } from './steps.ts'

/**
 * Puts all agents of an owner to sleep, whoever holds them. The caller has changed the row of the owner: nobody wakes one meanwhile, and
 * their tokens are revoked after this, because whoever deletes one agent locks its row before its tokens, too.
 */
export async function withdrawAllOf(tx: Transaction, ownerId: UserId): Promise<void> {
  for (const row of await tx.all(WITHDRAW_OF, [AGENT_QUEUE, ownerId]))
    announceListed(tx, { id: AgentId.parse(text(row, 'key')), ownerId })
}

/** Begins to end all agents of an owner who is deleted. What is left of each is removed by whoever looks for those that were marked. */
export async function markAllOf(tx: Transaction, ownerId: UserId, now: number): Promise<void> {
  for (const row of await tx.all(MARK_OF, [ownerId, now])) announceListed(tx, { id: AgentId.parse(text(row, 'id')), ownerId })
  await withdrawAllOf(tx, ownerId)
}
