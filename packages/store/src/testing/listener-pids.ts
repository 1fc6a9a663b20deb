import { Client } from 'pg'

/** The server's processes that hold the listening connections of open stores on this database. */
export async function listenerPids(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (application_name = 'parley listener' OR query LIKE '%LISTEN parley%' OR query LIKE 'SELECT pg_notify%unnest%')`,
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
}
