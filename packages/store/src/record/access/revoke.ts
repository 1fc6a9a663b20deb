import { type AgentId, TokenId, type UserId } from '@parley/protocol'
import { type Row, type Sql, type Transaction, text } from '@parley/database'
import { topicSignal } from '../../topic/signal-topics.ts'

/** Ends a token and all that were made with it, however long the chain is. Answers those that still stood. */
export async function revokeToken(tx: Transaction, id: TokenId, now: number): Promise<readonly TokenId[]> {
  const rows = await tx.all(REVOKE_WITH_MADE, [id, now])
  announceRevoked(tx, rows)
  return rows.map((row) => TokenId.parse(text(row, 'id')))
}

/**
 * Ends all tokens that still stand of a user, and of their agents: those act for the user. What one of them made is the same user's, and so
 * among them.
 */
export async function revokeTokens(tx: Transaction, userId: UserId, now: number): Promise<void> {
  announceRevoked(tx, await tx.all(REVOKE_OF_USER, [userId, now]))
}

/** Ends all tokens of an agent that still stand. */
export async function revokeAgentTokens(tx: Transaction, agentId: AgentId, now: number): Promise<void> {
  announceRevoked(tx, await tx.all(REVOKE_OF_AGENT, [agentId, now]))
}

function announceRevoked(tx: Transaction, rows: readonly Row[]): void {
  for (const row of rows) tx.signal(topicSignal(`token/${text(row, 'id')}`))
  if (rows.length > 0) tx.signal(topicSignal('tokens'))
}

/** Ends all sign-ins of a user that still stand. */
export async function revokeSignIns(tx: Transaction, userId: UserId, now: number): Promise<void> {
  const rows = await tx.all('UPDATE sign_ins SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL RETURNING jti', [
    userId,
    now,
  ])
  for (const row of rows) tx.signal(topicSignal(`sign-in/${text(row, 'jti')}`))
}

/** $1 token, $2 now. `UNION` drops what was found before: rows that name each other, as in a forged backup, end the search too. */
const REVOKE_WITH_MADE: Sql = `WITH RECURSIVE ended (id) AS (
    SELECT id FROM tokens WHERE id = $1 UNION SELECT t.id FROM ended e JOIN tokens t ON t.made_by = e.id)
  UPDATE tokens SET revoked_at = $2 WHERE revoked_at IS NULL AND id IN (SELECT id FROM ended) RETURNING id`
/** $1 user, $2 now. Two lists, each by its index, are put together: with `OR` all tokens would be looked at. */
const REVOKE_OF_USER: Sql = `UPDATE tokens SET revoked_at = $2 WHERE revoked_at IS NULL AND id IN (
  SELECT id FROM tokens WHERE user_id = $1 UNION SELECT t.id FROM agents a JOIN tokens t ON t.agent_id = a.id WHERE a.owner_id = $1)
  RETURNING id`
const REVOKE_OF_AGENT: Sql = 'UPDATE tokens SET revoked_at = $2 WHERE agent_id = $1 AND revoked_at IS NULL RETURNING id'
