import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'

/** The process id of a PostgreSQL server on this machine. */
export async function postmasterOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const text = await readFile(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8')
    return Number(text.split('\n')[0])
  } finally {
    await client.end()
  }
}
