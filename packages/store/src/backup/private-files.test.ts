import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { backupSqlite, lockFile, openStore, restoreStore } from '../index.ts'

const FILLING_BYTES = 24 * 1024 * 1024
let folder = ''
let mask = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-private-'))
  mask = process.umask(0)
})
afterEach(() => {
  process.umask(mask)
  rmSync(folder, { recursive: true })
})

/** Does something and answers the modes that files of the folder had meanwhile, by name. */
async function modesDuring(act: () => Promise<unknown>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const seen = new Map<string, Set<string>>()
  const look = (): void => {
    for (const name of readdirSync(folder)) {
      const mode = statSync(join(folder, name), { throwIfNoEntry: false })?.mode
      const kind = name.replace(/[0-9a-f]{12}/, '*')
      if (mode !== undefined) seen.set(kind, (seen.get(kind) ?? new Set()).add((mode & 0o777).toString(8)))
    }
  }
  const done = act().then(() => true)
  for (let isOver = false; !isOver;) {
    look()
    isOver = await Promise.race([done, setImmediate(false)])
  }
  look()
  return seen
}

test('whoever may read nothing reads no byte of a database, its copies and what belongs to them, whatever the umask', async () => {
  const [source, copy, target] = ['source.db', 'copy.backup', 'target.db'].map((name) => join(folder, name))
  if (source === undefined || copy === undefined || target === undefined) throw new TypeError('three paths')
  const store = await openStore({ url: `sqlite:${source}`, lockPath: join(folder, 'lock') })
  // Large enough that a copy takes a while.
  const filling = new DatabaseSync(source)
  filling.exec(`INSERT INTO blob_chunks VALUES ('filling', 0, zeroblob(${FILLING_BYTES}))`)
  filling.close()
  const seen = new Map([
    ...(await modesDuring(() => backupSqlite(source, copy))),
    ...(await modesDuring(() => store.backup(join(folder, 'other.backup')))),
    ...(await modesDuring(() => restoreStore(copy, `sqlite:${target}`, { lockPath: join(folder, 'target.lock') }))),
  ])
  await store.close()
  lockFile(join(folder, 'new.lock')).release()
  for (const name of readdirSync(folder)) seen.set(name, new Set([(statSync(join(folder, name)).mode & 0o777).toString(8)]))
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(['copy.backup.*.partial', 'target.db.*.partial', 'source.db-wal', 'new.lock']),
  )
  for (const [name, modes] of seen) expect([name, ...modes]).toEqual([name, '600'])
})
