import type { PolicyLayer, PolicyStatus } from '@parley/protocol'
import type { Sql } from '@parley/database'

export const NEXT_VERSION: Sql = 'SELECT coalesce(max(version), 0) + 1 AS version FROM policies WHERE subject = $1'
/** The columns of a new one, in the order of its values. */
export const ADD: Sql = `INSERT INTO policies (subject, version, layer, user_id, agent_id, status, body, sha256, note, created_by, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING *`
/** $1 subject, $2 the newest that goes. One that decides, or that somebody is asked about, stays. */
export const DROP_OLD: Sql = `DELETE FROM policies WHERE subject = $1 AND version <= $2 AND status NOT IN ('active', 'proposed')`
export const BY_VERSION: Sql = 'SELECT * FROM policies WHERE subject = $1 AND version = $2'
export const ACTIVE: Sql = `SELECT * FROM policies WHERE subject = $1 AND status = 'active'`
/** $1 subject, $2 version, $3 digest, $4 base. */
export const REVIEWED: Sql = 'UPDATE policies SET review = $3, base = $4 WHERE subject = $1 AND version = $2'
export const RETIRE: Sql = `UPDATE policies SET status = 'retired' WHERE subject = $1 AND status = 'active'`
/** $1 subject, $2 version, $3 who, $4 now. */
export const ACTIVATE: Sql = `UPDATE policies SET status = 'active', activated_by = $3, activated_at = $4
  WHERE subject = $1 AND version = $2 RETURNING *`
/** $1 subject, $2 version, $3 what became of it. */
export const END_PROPOSAL: Sql = `UPDATE policies SET status = $3 WHERE subject = $1 AND version = $2 AND status = 'proposed'`
/** $1 subject, $2 before this version, $3 rows. */
export const listSql = (statuses: readonly PolicyStatus[]): Sql => `SELECT * FROM policies WHERE subject = $1 AND version < $2
  AND status IN (${statuses.map((status) => `'${status}'`).join(', ')}) ORDER BY version DESC LIMIT $3`

export const ALLOW: Sql = `INSERT INTO allowances (id, agent_id, session, kind, mount, mount_version, name, digest, answers, created_by,
    created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
/** $1 agent, $2 now, $3 rows. */
export const ALLOWANCES: Sql = `SELECT * FROM allowances WHERE agent_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id DESC LIMIT $3`
export const ALLOWANCES_COUNT: Sql = 'SELECT count(*) AS held FROM allowances WHERE agent_id = $1 AND expires_at > $2'
export const DISALLOW: Sql = 'DELETE FROM allowances WHERE agent_id = $1 AND id = $2'
/** What people allowed in answer to a layer ends with what it asked: $1 the layer in quotes, as it stands in `answers`; $2 whose agents. */
export const END_ANSWERS: Readonly<Record<PolicyLayer, Sql>> = {
  installation: `DELETE FROM allowances WHERE answers LIKE '%' || CAST($1 AS TEXT) || '%'`,
  owner: `DELETE FROM allowances WHERE answers LIKE '%' || CAST($1 AS TEXT) || '%'
    AND agent_id IN (SELECT id FROM agents WHERE owner_id = $2)`,
  agent: `DELETE FROM allowances WHERE answers LIKE '%' || CAST($1 AS TEXT) || '%' AND agent_id = $2`,
}
export const PRUNE: Sql = 'DELETE FROM allowances WHERE expires_at <= $1'
