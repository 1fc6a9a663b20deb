import type { UserId } from '@parley/protocol'
import { flag, text } from '../../database/column.ts'
import type { Queries, Sql, Transaction } from '../../database/database.ts'
import { Conflict, NotFound } from '../../errors.ts'
import { topicSignal } from '../../topic/signal-topics.ts'

/** Ends all tokens of a user that still stand. */
export async function revokeTokens(tx: Transaction, userId: UserId, now: number): Promise<void> {
  const rows = await tx.all('UPDATE tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL RETURNING id', [
    userId,
    now,
  ])
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

/**
 * A disabled user gets nothing new. The row is held to the end of the transaction: disabling waits for it and then
 * revokes what it added, or comes first and is seen here.
 */
export async function checkEnabled(tx: Queries, userId: UserId): Promise<void> {
  const row = await tx.get(DISABLED, [userId])
  if (row === undefined) throw new NotFound(`user ${userId}`)
  if (flag(row, 'disabled')) throw new Conflict(`user ${userId} is disabled`)
}

/** As `checkEnabled`, and nobody else adds under the same person before the end: what is counted after this stays counted. */
export async function lockEnabled(tx: Queries, userId: UserId): Promise<void> {
  await tx.get(LOCK, [userId])
  await checkEnabled(tx, userId)
}

const LOCK: Sql = {
  sqlite: 'SELECT $1 AS one',
  postgres: 'SELECT 1 AS one FROM users WHERE id = $1 FOR NO KEY UPDATE',
}
const DISABLED: Sql = {
  sqlite: 'SELECT disabled FROM users WHERE id = $1',
  postgres: 'SELECT disabled FROM users WHERE id = $1 FOR SHARE',
}
