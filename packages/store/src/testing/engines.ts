import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from './start-postgres.ts'

/** Where the tests of one engine keep their databases. */
export interface TestEngine extends AsyncDisposable {
  /** The address of a database that nobody has used. */
  freshUrl(): Promise<string>
  stop(): Promise<void>
}

export const ENGINES = ['sqlite', 'postgres'] as const

/** A folder for files, or a server. */
export async function startEngine(engine: (typeof ENGINES)[number]): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-store-'))
  const server = engine === 'postgres' ? await startPostgres() : undefined
  let files = 0
  const stop = async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return {
    freshUrl: async () => {
      files += 1
      return server === undefined ? `sqlite:${join(folder, `${files}.db`)}` : server.createDatabase()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
