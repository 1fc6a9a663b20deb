import type { Sql } from '@parley/database'

export const END_LINKS: Sql = 'DELETE FROM sign_in_links WHERE user_id = $1'
export const DELETE_QUOTA: Sql = 'DELETE FROM quotas WHERE user_id = $1'
export const DELETE_POLICIES: Sql = 'DELETE FROM policies WHERE user_id = $1'
export const DELETE_GRANT: Sql = 'DELETE FROM grants WHERE user_id = $1'
export const OLDEST_ADMIN: Sql = 'SELECT * FROM users WHERE admin = 1 AND disabled = 0 ORDER BY created_at, id LIMIT 1'
const COLUMNS = '(id, username, password_hash, admin, created_at)'
export const INSERT: Sql = `INSERT INTO users ${COLUMNS} VALUES ($1, $2, $3, $4, $5) ON CONFLICT (username) DO NOTHING RETURNING *`
export const INSERT_FIRST: Sql = `INSERT INTO users ${COLUMNS}
  SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS INTEGER), CAST($5 AS BIGINT)
  WHERE NOT EXISTS (SELECT 1 FROM users) RETURNING *`
export const BY_ID: Sql = 'SELECT * FROM users WHERE id = $1 AND deleted_at IS NULL'
export const BY_NAME: Sql = 'SELECT * FROM users WHERE username = $1 AND deleted_at IS NULL'
export const BY_IDENTITY: Sql = 'SELECT * FROM users WHERE identity_issuer = $1 AND identity_subject = $2 AND deleted_at IS NULL'
export const SET_IDENTITY: Sql =
  'UPDATE users SET identity_issuer = $2, identity_subject = $3 WHERE id = $1 AND deleted_at IS NULL'
export const LIST: Sql = 'SELECT * FROM users WHERE username > $1 AND deleted_at IS NULL ORDER BY username LIMIT $2'
export const ENABLE: Sql = 'UPDATE users SET disabled = $2 WHERE id = $1 AND deleted_at IS NULL'
export const PROMOTE: Sql = 'UPDATE users SET admin = $2 WHERE id = $1 AND deleted_at IS NULL'
export const SET_PASSWORD = 'UPDATE users SET password_hash = $2 WHERE id = $1 AND deleted_at IS NULL'
export const SET_PASSWORD_FROM: Sql = `${SET_PASSWORD} AND password_hash IS NOT DISTINCT FROM $3`
export const SIGNED_IN: Sql = 'UPDATE users SET last_sign_in_at = $2 WHERE id = $1 AND deleted_at IS NULL'
/** Without an admin nobody could ever let anybody in again. */
const UNLESS_LAST = `id = $1 AND deleted_at IS NULL
  AND (admin = 0 OR disabled = 1 OR EXISTS (SELECT 1 FROM users other WHERE other.admin = 1 AND other.disabled = 0 AND other.id <> $1))`
export const DISABLE: Sql = `UPDATE users SET disabled = 1 WHERE ${UNLESS_LAST}`
export const DEMOTE: Sql = `UPDATE users SET admin = 0 WHERE ${UNLESS_LAST}`
export const DELETE: Sql = `UPDATE users SET deleted_at = $2, username = $3, password_hash = NULL, admin = 0, disabled = 1,
  last_sign_in_at = NULL, identity_issuer = NULL, identity_subject = NULL WHERE ${UNLESS_LAST}`
/** SQLite's transaction is the only writer already. */
export const LOCK_USERS: Sql = { sqlite: 'SELECT 1 AS one', postgres: 'LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE' }
