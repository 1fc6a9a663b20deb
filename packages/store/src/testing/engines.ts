import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { QUICK_FOLDER } from '../../../../scripts/testing/quick-folder.ts'
import { openPostgres } from '@parley/database'
import { migrate } from '@parley/schema'
import { type TestPostgres, startPostgres } from './start-postgres.ts'

/** Where the tests of one engine keep their databases. */
export interface TestEngine extends AsyncDisposable {
  /** The address of a database that nobody has used. */
  freshUrl(): Promise<string>
  /** The address of one that has its tables and nothing in them: on a server that is quicker than to make them. */
  migratedUrl(): Promise<string>
  stop(): Promise<void>
}

export const ENGINES = ['sqlite', 'postgres'] as const

/** A folder for files, or the server that all tests of this process share. */
export async function startEngine(engine: (typeof ENGINES)[number]): Promise<TestEngine> {
  if (engine === 'postgres') return onServer(await sharedServer())
  const folder = await mkdtemp(join(QUICK_FOLDER, 'parley-store-'))
  let files = 0
  const freshUrl = () => {
    files += 1
    return Promise.resolve(`sqlite:${join(folder, `${files}.db`)}`)
  }
  const stop = () => rm(folder, { recursive: true, force: true })
  return { freshUrl, migratedUrl: freshUrl, stop, [Symbol.asyncDispose]: stop }
}

interface SharedServer {
  readonly server: TestPostgres
  readonly migrated: string
}

function onServer({ server, migrated }: SharedServer): TestEngine {
  const stop = () => Promise.resolve()
  return {
    freshUrl: () => server.createDatabase(),
    migratedUrl: () => server.createDatabase(migrated),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

let shared: Promise<SharedServer> | undefined

/** Starting a server takes seconds, and one process runs many files of tests. It ends with the process. */
function sharedServer(): Promise<SharedServer> {
  shared ??= startShared()
  return shared
}

async function startShared(): Promise<SharedServer> {
  const server = await startPostgres({ holds: false })
  const migrated = await server.createDatabase()
  const db = await openPostgres(migrated)
  await migrate(db, () => 0)
  await db.close()
  return { server, migrated }
}
