import type { UserId } from '@parley/protocol'
import { text } from '../../database/column.ts'
import type { Transaction } from '../../database/database.ts'
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
