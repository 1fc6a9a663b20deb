import type { Sql } from './database.ts'

/**
 * What PostgreSQL's advisory locks are taken for. The numbers stand in one place, so that none is given twice: all gateways of an
 * installation, also those of other versions, must mean the same by each.
 */
const SPACES = {
  migration: 7400,
  spendingOfOwner: 7401,
  callsOfJob: 7402,
  share: 7403,
  channels: 7404,
  callsOfAgent: 7405,
  spendingOfAgents: 7406,
  policies: 7407,
}

/** Waits for whoever has the lock, and keeps it to the end of the transaction. On SQLite a transaction is the only writer already. */
export const lockAll = (space: keyof typeof SPACES): Sql => ({
  sqlite: 'SELECT 1 AS one',
  postgres: `SELECT pg_advisory_xact_lock(${SPACES[space]}, 1)`,
})

/** As `lockAll`, for what $1 names alone. */
export const lockNamed = (space: keyof typeof SPACES): Sql => ({
  sqlite: 'SELECT $1 AS one',
  postgres: `SELECT pg_advisory_xact_lock(${SPACES[space]}, hashtext(CAST($1 AS TEXT)))`,
})
