import type { Sql } from '@parley/database'
import { heldUnder } from '../../lease/fence.ts'
import { AGENT_QUEUE } from './agent.ts'

/** Each agent is read with the name of its owner, the number of its mounts, and whether the host that reported last holds it now ($1). */
const SELECT = `SELECT a.*, (SELECT username FROM users u WHERE u.id = a.owner_id) AS owner_name,
  (SELECT count(*) FROM mounts m WHERE m.agent_id = a.id) AS mount_count,
  CASE WHEN EXISTS (SELECT 1 FROM leases l WHERE l.queue = '${AGENT_QUEUE}' AND l.key = a.id
    AND ${heldUnder('l', 'a.fence', '$1')}) THEN 1 ELSE 0 END AS is_reported FROM agents a`
/** $1 now, $2 agent. */
export const AGENT: Sql = `${SELECT} WHERE a.id = $2`
const PAGE = `${SELECT} WHERE (a.created_at, a.id) < ($2, $3)`
const NEWEST_FIRST = 'ORDER BY a.created_at DESC, a.id DESC LIMIT $4'
/** $1 now, $2 and $3 where the page before ended, $4 rows, and $5 the owner. */
export const LIST: Sql = `${PAGE} ${NEWEST_FIRST}`
export const LIST_OF: Sql = `${PAGE} AND a.owner_id = $5 ${NEWEST_FIRST}`

export const OWNER_OF: Sql = 'SELECT owner_id FROM agents WHERE id = $1'
const ACTIVE = `SELECT * FROM agents WHERE id = $1 AND status = 'active'`
/** Everybody who changes an agent locks its owner if need be, then its row, then its lease, so that no two wait for each other. */
export const AGENT_FOR_CHANGE: Sql = { sqlite: ACTIVE, postgres: `${ACTIVE} FOR UPDATE` }

/** $1 agent, $2 owner, $3 name, $4 kind, $5 preset, $6 settings, $7 now. */
export const ADD: Sql = `INSERT INTO agents (id, owner_id, name, kind, preset, settings, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (owner_id, name) DO NOTHING`
export const NAMES_OF: Sql = 'SELECT name FROM agents WHERE owner_id = $1'
export const COUNT_OF: Sql = 'SELECT count(*) AS agents FROM agents WHERE owner_id = $1'
/** $1 agent, $2 name, $3 settings, $4 now. Nothing is changed where the name is that of another of the same owner. */
export const UPDATE: Sql = `UPDATE agents SET name = $2, settings = $3, version = version + 1, updated_at = $4 WHERE id = $1
  AND NOT EXISTS (SELECT 1 FROM agents other WHERE other.owner_id = agents.owner_id AND other.name = $2 AND other.id <> $1)`
/** $1 agent, $2 now. */
export const TOUCH: Sql = 'UPDATE agents SET version = version + 1, updated_at = $2 WHERE id = $1 RETURNING version'

const mark = (which: string) => `UPDATE agents SET status = 'deleting', version = version + 1, updated_at = $2
  WHERE ${which} = $1 AND status = 'active' RETURNING id, owner_id`
export const MARK: Sql = mark('id')
export const MARK_OF: Sql = mark('owner_id')
/** What is mounted and listened to goes with it. */
export const REMOVE: Sql = `DELETE FROM agents WHERE id = $1 AND status = 'deleting' RETURNING owner_id`
export const REMOVE_TOKENS: Sql = 'DELETE FROM tokens WHERE agent_id = $1'
export const DELETING: Sql = `SELECT id FROM agents WHERE status = 'deleting' ORDER BY id LIMIT $1`

/** $1 queue, $2 agent. */
export const LEASE: Sql = 'SELECT id, turns, holder, available_at FROM leases WHERE queue = $1 AND key = $2'
/** $1 queue, $2 owner. */
export const WITHDRAW_OF: Sql = `DELETE FROM leases WHERE queue = $1 AND key IN (SELECT id FROM agents WHERE owner_id = $2)
  RETURNING key`
/** $1 agent, $2 what is reported, $3 the fence under which. */
export const REPORT: Sql = `UPDATE agents SET reported = $2, fence = $3
  WHERE id = $1 AND (reported <> $2 OR fence IS DISTINCT FROM CAST($3 AS BIGINT))`
export const FORGET_REPORT: Sql = `UPDATE agents SET reported = '[]', fence = NULL WHERE id = $1`

export const MOUNTS: Sql = 'SELECT * FROM mounts WHERE agent_id = $1 ORDER BY name'
export const MOUNT: Sql = 'SELECT 1 AS one FROM mounts WHERE agent_id = $1 AND name = $2'
export const COUNT_MOUNTS: Sql = 'SELECT count(*) AS mounts FROM mounts WHERE agent_id = $1'
/** $1 agent, $2 name: another one that is shown without a prefix. */
export const OTHER_PLAIN: Sql = 'SELECT name FROM mounts WHERE agent_id = $1 AND plain = 1 AND name <> $2'
export const PUT_MOUNT: Sql = `INSERT INTO mounts (agent_id, name, sealed, shown, options, plain, version, attached_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (agent_id, name) DO UPDATE SET sealed = excluded.sealed, shown = excluded.shown,
    options = excluded.options, plain = excluded.plain, version = excluded.version, attached_at = excluded.attached_at RETURNING *`
/** $1 agent, $2 name, $3 version, $4 sealed: what was attached meanwhile stays as it is. */
export const RESEAL_MOUNT: Sql = 'UPDATE mounts SET sealed = $4 WHERE agent_id = $1 AND name = $2 AND version = $3'
export const REMOVE_MOUNT: Sql = 'DELETE FROM mounts WHERE agent_id = $1 AND name = $2'

export const LISTEN: Sql =
  'INSERT INTO subscriptions (agent_id, hash, uri, told) VALUES ($1, $2, $3, $4) ON CONFLICT (agent_id, hash) DO UPDATE SET told = excluded.told WHERE subscriptions.told IS NULL'
export const COUNT_SUBSCRIPTIONS: Sql = 'SELECT count(*) AS subscriptions FROM subscriptions WHERE agent_id = $1'
export const UNLISTEN: Sql = 'DELETE FROM subscriptions WHERE agent_id = $1 AND hash = $2'
export const SUBSCRIPTIONS: Sql = 'SELECT uri FROM subscriptions WHERE agent_id = $1 ORDER BY uri'

/** $1 the subject of a new agent, $2 that agent, $3 the text, $4 its SHA-256, $5 a note, $6 whose word it is, $7 now: active from the start. */
export const FIRST_POLICY: Sql = `INSERT INTO policies (subject, version, layer, agent_id, status, body, sha256, note, created_by, created_at,
    activated_by, activated_at) VALUES ($1, 1, 'agent', $2, 'active', $3, $4, $5, $6, $7, $6, $7)`
/** $1 the subject of a new agent, $2 that agent, $3 the subject of the one that it comes from: its active policy, as the first version. */
export const COPY_POLICY: Sql = `INSERT INTO policies (subject, version, layer, user_id, agent_id, status, body, sha256, note, created_by,
    created_at, activated_by, activated_at)
  SELECT $1, 1, layer, user_id, $2, status, body, sha256, note, created_by, created_at, activated_by, activated_at
  FROM policies WHERE subject = $3 AND status = 'active'`

/** Whether it was told something that is not answered. */
export const HAS_PROMPT: Sql = `SELECT 1 AS one FROM prompts WHERE agent_id = $1 AND status IN ('queued', 'running') LIMIT 1`

/** $1 a time, $2 rows: those whose log of calls begins before it. */
export const WITH_OLD_CALLS: Sql = `SELECT a.id FROM agents a JOIN logs l ON l.name = 'agent/' || a.id || '/calls'
  JOIN log_entries e ON e.log_id = l.id AND e.seq = l.first_seq WHERE e.at < $1 ORDER BY a.id LIMIT $2`
