import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError, type Io } from '@parley/command-line'
import type { Settings } from '../config/setting.ts'
import { dataDirAt } from '../data/data-dir.ts'
import { isPostgres } from '../config/database-url.ts'
import type { Target } from '../option/target.ts'
import type { Admin } from './admin.ts'
import { connectSocket, connectUrl } from './connected-admin.ts'

/** A gateway that holds the lock but does not answer yet is starting; this long we wait for it. */
const STARTING_MS = 5_000
const RETRY_MS = 100

/**
 * The way to the admin tools. A URL goes there; PostgreSQL is opened directly, and gateways hear of changes by NOTIFY;
 * an SQLite file belongs to the gateway that runs on it, and only when there is none is it opened here.
 */
export async function openAdmin(settings: Settings, target: Target | undefined, io: Io): Promise<Admin> {
  if (target !== undefined) return connectUrl(target)
  if (isPostgres(settings.databaseUrl)) return openHere(settings, io)
  const data = dataDirAt(io.cwd, settings.dataDir)
  const deadline = io.now() + STARTING_MS
  for (;;) {
    if (existsSync(data.adminSocket)) {
      const connected = await connectSocket(data.adminSocket)
      if (connected !== undefined) return connected
    }
    try {
      return await openHere(settings, io)
    } catch (error) {
      if (!isLocked(error)) throw error
      if (io.now() >= deadline) {
        throw new CommandError('gateway_silent', `a gateway holds ${data.path} but does not answer on its socket`, {
          hint: 'wait until it is ready, or stop it',
          cause: error,
        })
      }
    }
    await sleep(RETRY_MS)
  }
}

/** Loaded only here: a command that talks to a running gateway needs neither database nor gateway code. */
async function openHere(settings: Settings, io: Io): Promise<Admin> {
  const { openDatabaseAdmin } = await import('./database-admin.ts')
  return openDatabaseAdmin(settings, io)
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'locked'
}
