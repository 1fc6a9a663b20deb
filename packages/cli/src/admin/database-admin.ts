import { createLogger, openLocalAdmin } from '@parley/gateway'
import type { Io } from '@parley/command-line'
import type { Settings } from '../config/setting.ts'
import { dataDirAt, makeDataDir } from '../data/data-dir.ts'
import { openDatabase } from '../gateway-process/open-database.ts'
import type { Admin } from './admin.ts'

/** The gateway's own tools on the store itself. */
export async function openDatabaseAdmin(settings: Settings, io: Io): Promise<Admin> {
  const data = dataDirAt(io.cwd, settings.dataDir)
  makeDataDir(data)
  const store = await openDatabase(settings, data, io.cwd)
  const scheme = settings.tlsCert === undefined ? 'http' : 'https'
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  const local = openLocalAdmin({
    store,
    baseUrl: settings.publicUrl ?? `${scheme}://${host}:${settings.port}`,
    log: createLogger({ level: 'error', destination: { write: io.err } }),
    now: io.now,
    random: io.random,
  })
  return {
    call: (name, input) => local.call(name, input),
    close: async () => {
      await local.close()
      await store.close()
    },
  }
}
