import type { Sql } from '@parley/database'

/** Whether a token can still be shown: neither revoked nor over at the time that is given. */
export const STANDING: Sql = `SELECT 1 AS one FROM tokens WHERE id = $1 AND revoked_at IS NULL
  AND (expires_at IS NULL OR expires_at > $2)`
