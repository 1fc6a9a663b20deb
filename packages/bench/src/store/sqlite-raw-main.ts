import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { measureLoop } from './loop.ts'
import { ENTRY_BYTES, WARM_SHARE } from './workload.ts'

/** The floor of the store: the same tables in the same mode, and nothing but prepared statements. */
const { values } = parseArgs({ options: { file: { type: 'string' }, work: { type: 'string' }, operations: { type: 'string' } } })
const operations = Number(values.operations ?? 1)
const warm = Math.ceil(operations * WARM_SHARE)
const db = new DatabaseSync(values.file ?? '')
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE log_entries (log_id INTEGER NOT NULL, seq INTEGER NOT NULL, end_offset INTEGER NOT NULL, at INTEGER NOT NULL,
    bytes BLOB NOT NULL, PRIMARY KEY (log_id, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,
    holder TEXT, available_at INTEGER NOT NULL, UNIQUE (queue, key)) STRICT;
  CREATE INDEX leases_in_order ON leases (queue)`)
if (values.work === 'append') await append()
else await claim()
db.close()

async function append(): Promise<void> {
  const insert = db.prepare('INSERT INTO log_entries (log_id, seq, end_offset, at, bytes) VALUES (1, ?, ?, ?, ?)')
  const bytes = new Uint8Array(ENTRY_BYTES).fill(120)
  let seq = 0
  const many = (count: number): void => {
    for (let done = 0; done < count; done += 1) {
      insert.run(seq, (seq + 1) * ENTRY_BYTES, Date.now(), bytes)
      seq += 1
    }
  }
  many(warm)
  await measureLoop(operations, () => many(operations))
}

async function claim(): Promise<void> {
  const offer = db.prepare('INSERT INTO leases (queue, key, payload, available_at) VALUES (?, ?, ?, 0)')
  db.exec('BEGIN')
  for (let item = 0; item < operations + warm; item += 1) offer.run('bench', `job-${item}`, '{}')
  db.exec('COMMIT')
  const take = db.prepare(`UPDATE leases SET holder = ?, available_at = ?
    WHERE id = (SELECT id FROM leases WHERE queue = ? AND available_at <= ? ORDER BY id LIMIT 1) RETURNING id, key, payload`)
  const complete = db.prepare('DELETE FROM leases WHERE id = ?')
  const many = (count: number): void => {
    for (let done = 0; done < count; done += 1) {
      const now = Date.now()
      const id = take.get('worker', now + 60_000, 'bench', now)?.['id']
      if (id === undefined) throw new Error('nothing to claim')
      complete.run(id)
    }
  }
  many(warm)
  await measureLoop(operations, () => many(operations))
}
