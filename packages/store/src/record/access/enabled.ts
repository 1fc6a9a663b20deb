import type { UserId } from '@parley/protocol'
import { type Queries, type Sql, Conflict, NotFound, flag } from '@parley/database'

/**
 * Throws `Conflict` for a disabled user, who gets nothing new. The row is locked to the end of the transaction: disabling waits
 * for it and then revokes what was added, or it came first and is seen here.
 */
export async function checkEnabled(queries: Queries, userId: UserId): Promise<void> {
  await checkRow(queries, ENABLED, userId)
}

/** As `checkEnabled`, and nobody else adds for the same user before the end of the transaction: what is counted after this stays true. */
export async function lockEnabled(queries: Queries, userId: UserId): Promise<void> {
  await lockUser(queries, userId)
  await checkEnabled(queries, userId)
}

/** Whoever else locks the same user waits for the end of the transaction. */
export async function lockUser(queries: Queries, userId: UserId): Promise<void> {
  await queries.get(LOCK, [userId])
}

/** As `checkEnabled`, and a deleted user is not found. */
export async function checkOwner(queries: Queries, userId: UserId): Promise<void> {
  await checkRow(queries, ENABLED_OWNER, userId)
}

/** Whether a user is neither deleted nor disabled; locked as in `checkEnabled`. */
export async function isPresent(queries: Queries, userId: UserId): Promise<boolean> {
  const row = await queries.get(ENABLED_OWNER, [userId])
  return row !== undefined && !flag(row, 'disabled')
}

async function checkRow(queries: Queries, statement: Sql, userId: UserId): Promise<void> {
  const row = await queries.get(statement, [userId])
  if (row === undefined) throw new NotFound(`user ${userId}`)
  if (flag(row, 'disabled')) throw new Conflict(`user ${userId} is disabled`)
}

const LOCK: Sql = {
  sqlite: 'SELECT $1 AS one',
  postgres: 'SELECT 1 AS one FROM users WHERE id = $1 FOR NO KEY UPDATE',
}
const disabledOf = (user: string): Sql => {
  const select = `SELECT disabled FROM users WHERE ${user}`
  return { sqlite: select, postgres: `${select} FOR SHARE` }
}
const ENABLED = disabledOf('id = $1')
const ENABLED_OWNER = disabledOf('id = $1 AND deleted_at IS NULL')
