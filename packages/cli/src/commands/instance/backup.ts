import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { backupSqlite, openStore, parseStoreUrl, restoreStore } from '@parley/store'
import { atPath, CommandError, type Invocation } from '@parley/command-line'
import { checkGiven, show } from '@parley/command-line/commands'
import { instanceOf } from '../../config/instance.ts'
import { dataDirAt, makeDataDir } from '../../data/data-dir.ts'
import { databaseUrlOf } from '../../config/database-url.ts'

/** A copy of the database as it is at one moment. */
export async function backup(invocation: Invocation): Promise<number> {
  const { io, positionals } = invocation
  const settings = instanceOf(invocation)
  const file = resolve(io.cwd, positionals[0] ?? '')
  if (existsSync(file))
    throw new CommandError('already_exists', `${file} exists already`, { hint: 'choose another name; nothing is overwritten' })
  // Tried first, because a database only says that it could not be opened.
  atPath(`FILE ${positionals[0]}`, () => {
    closeSync(openSync(file, 'wx', 0o600))
    rmSync(file)
  })
  const data = dataDirAt(io.cwd, settings.dataDir)
  const location = parseStoreUrl(databaseUrlOf(settings, data, io.cwd))
  if (location.engine === 'sqlite') {
    if (!existsSync(location.path))
      throw new CommandError('not_found', `there is no database at ${location.path}`, {
        hint: 'name the instance by --data or --database',
      })
    await backupSqlite(location.path, file)
  } else {
    const store = await openStore({ url: location.url })
    try {
      await store.backup(file)
    } finally {
      await store.close()
    }
  }
  const bytes = statSync(file).size
  return show(invocation, { file, bytes }, `${file}: ${bytes} bytes. Keep ${data.secret} with it.`)
}

/** Puts a backup where nothing is yet. */
export async function restore(invocation: Invocation): Promise<number> {
  const { io, positionals } = invocation
  const settings = instanceOf(invocation)
  const file = resolve(io.cwd, positionals[0] ?? '')
  checkGiven({ what: 'FILE', file: positionals[0] ?? '', cwd: io.cwd })
  const data = dataDirAt(io.cwd, settings.dataDir)
  const isNew = !existsSync(data.path)
  makeDataDir(data)
  try {
    await restoreStore(file, databaseUrlOf(settings, data, io.cwd), { lockPath: data.lock })
  } catch (error) {
    // All that is in there by now is our lock.
    if (isNew) rmSync(data.path, { recursive: true, force: true })
    throw error
  }
  const hasSecret = settings.secret !== undefined || existsSync(data.secret)
  if (!hasSecret) io.err(`Put the secret of that instance into ${data.secret} (mode 600) before you start a gateway on it.\n`)
  return show(invocation, { data: data.path, has_secret: hasSecret }, `${file} was restored into ${data.path}.`)
}
