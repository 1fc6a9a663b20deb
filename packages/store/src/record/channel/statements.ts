import { type Sql, lockAll } from '@parley/database'

export const PUT: Sql = `INSERT INTO channels (name, display_name, kind, base_url, wire, models_path, script, sealed_key, key_hint, enabled,
    source, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
  ON CONFLICT (name) DO UPDATE SET display_name = excluded.display_name, kind = excluded.kind, base_url = excluded.base_url,
    wire = excluded.wire, models_path = excluded.models_path, script = excluded.script, sealed_key = excluded.sealed_key,
    key_hint = excluded.key_hint, enabled = excluded.enabled, source = excluded.source, updated_at = excluded.updated_at
  RETURNING *`
export const PUT_MODEL: Sql = `INSERT INTO models (channel, model, display_name, context_tokens, prices, active, source, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
  ON CONFLICT (channel, model) DO UPDATE SET display_name = excluded.display_name, context_tokens = excluded.context_tokens,
    prices = excluded.prices, active = excluded.active, source = excluded.source, updated_at = excluded.updated_at
  RETURNING *`
/** Whoever adds one waits for the one before, so that each is counted. Taken before any row is locked. */
export const LOCK_COUNT: Sql = lockAll('channels')
export const MODEL = 'SELECT 1 AS one FROM models WHERE channel = $1 AND model = $2'
export const CHANNEL = 'SELECT 1 AS one FROM channels WHERE name = $1'
export const CHANNEL_FOR_DELETE: Sql = { sqlite: CHANNEL, postgres: `${CHANNEL} FOR UPDATE` }
export const CHANNEL_FOR_MODEL: Sql = { sqlite: CHANNEL, postgres: `${CHANNEL} FOR KEY SHARE` }
