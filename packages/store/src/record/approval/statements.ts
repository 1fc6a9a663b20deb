import { APPROVAL_MOVES, ApprovalStatus } from '@parley/protocol'
import type { Sql } from '@parley/database'

const quoted = (statuses: readonly ApprovalStatus[]): string => statuses.map((status) => `'${status}'`).join(', ')
/** The statuses from which this one may be reached, for a condition. */
const from = (to: ApprovalStatus): string =>
  quoted(ApprovalStatus.options.filter((status) => APPROVAL_MOVES[status].includes(to)))
/** Those of which something may still become by itself. */
const OPEN = `'pending', 'approved'`

/** The columns of a new one, in the order of its values. */
export const ADD: Sql = `INSERT INTO approvals (id, agent_id, owner_id, kind, mount, name, digest, arguments, preview, preview_sha256, caller,
    reason, mount_version, policy, rule, layer, askers, approvers, people, fence, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) RETURNING *`
/** $1 agent, $2 digest, $3 fence, $4 now, $5 policies: the same call, where nobody waits for it or only its host may, the oldest first. */
export const SAME_CALL: Sql = `SELECT * FROM approvals WHERE agent_id = $1 AND digest = $2 AND policy = $5 AND status IN (${OPEN})
    AND (caller_gone_at IS NOT NULL OR fence = $3) AND expires_at > $4 ORDER BY created_at, id`
/** $1 approval, $2 fence: it is waited for again. */
export const ADOPT: Sql = `UPDATE approvals SET caller_gone_at = NULL, fence = $2 WHERE id = $1 AND status IN (${OPEN}) RETURNING *`
/** $1 agent, $2 digest, $3 fence, $4 policies: the newest that was asked under an earlier claim, if it was denied. */
export const ADOPT_DENIED: Sql = `UPDATE approvals SET caller_gone_at = NULL, fence = $3 WHERE status = 'denied' AND id = (SELECT id FROM approvals
    WHERE agent_id = $1 AND digest = $2 AND policy = $4 AND fence <> $3 ORDER BY created_at DESC, id DESC LIMIT 1) RETURNING *`
/** $1 agent, $2 digest, $3 fence, $4 policies: the newest that was denied when nobody waited for it any more. */
export const ADOPT_UNHEARD: Sql = `UPDATE approvals SET caller_gone_at = NULL, fence = $3 WHERE status = 'denied' AND caller_gone_at IS NOT NULL
    AND decided_at >= caller_gone_at AND id = (SELECT id FROM approvals WHERE agent_id = $1 AND digest = $2 AND policy = $4
      ORDER BY created_at DESC, id DESC LIMIT 1) RETURNING *`
export const COUNT_OF_AGENT: Sql = `SELECT count(*) AS open FROM approvals WHERE agent_id = $1 AND status = 'pending'`
export const COUNT_OF_OWNER: Sql = `SELECT count(*) AS open FROM approvals WHERE owner_id = $1 AND status = 'pending'`
export const BY_ID: Sql = 'SELECT * FROM approvals WHERE id = $1'

/** What is looked through, as one text: nobody finds what they do not see. */
const SEARCHED = `(kind || ' ' || COALESCE(mount, '') || ' ' || name || '\n' || preview || '\n' || caller || '\n' || reason || '\n' ||
    COALESCE(decided_by, '') || '\n' || COALESCE(decision_reason, '') || '\n' || votes)`
/**
 * $1, $2 where the page before ended, $3 rows, $4 owner or null, $5 agent or null, $6 the approver's name as it stands in `people` or null,
 * $7 what is searched for in small letters or null, $8 since when. Texts are looked for as they are, not as patterns: `LIKE` means other
 * letters by a capital on each engine, and on PostgreSQL in each language.
 */
export const listSql = (statuses: readonly ApprovalStatus[]): Sql => {
  const listed = (
    placeOf: 'instr' | 'strpos',
    searched: string,
  ): string => `SELECT * FROM approvals WHERE (created_at, id) < ($1, $2)
  AND (CAST($4 AS TEXT) IS NULL OR owner_id = $4 OR ${placeOf}(people, $6) > 0) AND (CAST($5 AS TEXT) IS NULL OR agent_id = $5)
  AND status IN (${quoted(statuses)}) AND created_at >= $8
  AND (CAST($7 AS TEXT) IS NULL OR ${placeOf}(lower(${searched}), $7) > 0) ORDER BY created_at DESC, id DESC LIMIT $3`
  // SQLite makes the capitals of A to Z small and no others; PostgreSQL does so where it is told to leave its language aside.
  return { sqlite: listed('instr', SEARCHED), postgres: listed('strpos', `${SEARCHED} COLLATE "C"`) }
}

/** $1 approval, $2 decision, $3 who, $4 why, $5 now. Nothing is changed by one that comes in the millisecond of its end or later. */
const decide = (to: 'approved' | 'denied'): Sql => `UPDATE approvals SET status = '${to}', decision = $2, decided_by = $3,
    decision_reason = $4, decided_at = $5${to === 'denied' ? ', ended_at = $5' : ''}
  WHERE id = $1 AND status IN (${from(to)}) AND expires_at > $5 RETURNING *`
export const APPROVE: Sql = decide('approved')
/** $1 approval, $2 now: kept until the commit. */
export const LOCK_PENDING: Sql = `UPDATE approvals SET votes = votes WHERE id = $1 AND status = 'pending' AND expires_at > $2 RETURNING *`
/** $1 approval, $2 who has said yes, $3 edited arguments. */
export const VOTED: Sql = 'UPDATE approvals SET votes = $2, edited = $3 WHERE id = $1 RETURNING *'
/** $1 a name: of somebody who was disabled or deleted since. */
export const MAY_NOT_VOTE: Sql = 'SELECT 1 AS one FROM users WHERE username = $1 AND (disabled = 1 OR deleted_at IS NOT NULL)'
/** $1 approval, $2 policies: a rule that its own decision made is among what it is bound to. */
export const REBIND: Sql = 'UPDATE approvals SET policy = $2 WHERE id = $1 RETURNING *'
/** $1 approval, $2 now: a change of a policy is done with the decision. */
export const DONE: Sql = `UPDATE approvals SET status = 'returned', dispatched_at = $2, ended_at = $2 WHERE id = $1 RETURNING *`
export const DENY: Sql = decide('denied')
/** $1 approval, $2 fence, $3 now. */
export const DISPATCH: Sql = `UPDATE approvals SET status = 'dispatched', fence = $2, dispatched_at = $3
  WHERE id = $1 AND agent_id = $4 AND status IN (${from('dispatched')}) AND expires_at > $3 RETURNING *`
/** $1 approval, $2 agent, $3 end, $4 now. */
export const SETTLE: Sql = `UPDATE approvals SET status = $3, ended_at = $4 WHERE id = $1 AND agent_id = $2 AND status = 'dispatched' RETURNING *`
export const WITHDRAW: Sql = `UPDATE approvals SET status = 'withdrawn', ended_at = $3
  WHERE id = $1 AND agent_id = $2 AND status IN (${from('withdrawn')}) RETURNING *`
/** $1 approval, $2 agent, $3 now. */
export const LEAVE: Sql = `UPDATE approvals SET caller_gone_at = coalesce(caller_gone_at, $3)
  WHERE id = $1 AND agent_id = $2 AND status IN (${OPEN}) RETURNING *`
/** $1 agent, $2 fence, $3 now: what others had sent has an end that nobody knows. */
export const LOSE: Sql = `UPDATE approvals SET status = 'unknown', ended_at = $3
  WHERE agent_id = $1 AND fence <> $2 AND status IN (${from('unknown')}) RETURNING *`
export const ORPHAN: Sql = `UPDATE approvals SET caller_gone_at = coalesce(caller_gone_at, $3)
  WHERE agent_id = $1 AND fence <> $2 AND status IN (${OPEN}) AND caller_gone_at IS NULL RETURNING *`
/** $1 approval, $2 end, $3 who, $4 now. */
export const RESOLVE: Sql = `UPDATE approvals SET status = $2, resolved_by = $3, ended_at = $4 WHERE id = $1 AND status = 'unknown' RETURNING *`
/** $1 now, $2 rows. */
export const EXPIRED: Sql = `SELECT id FROM approvals WHERE status IN (${OPEN}) AND expires_at <= $1 ORDER BY expires_at, id LIMIT $2`
/** $1 approval, $2 now. */
export const EXPIRE: Sql = `UPDATE approvals SET status = 'expired', ended_at = $2
  WHERE id = $1 AND status IN (${from('expired')}) AND expires_at <= $2 RETURNING *`
export const PRUNE: Sql = 'DELETE FROM approvals WHERE ended_at < $1'
