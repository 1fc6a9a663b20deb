import { existsSync, statSync } from 'node:fs'
import { Denied, openHttpServer } from '@parley/rpc'
import type { Io } from '@parley/command-line'
import { connectSocket } from '../admin/connected-admin.ts'
import type { Settings } from '../config/setting.ts'
import { type DataDir, dataDirAt, isOpenToOthers } from '../data/data-dir.ts'
import { readSecret } from '../data/secret.ts'
import { isPostgres } from '../config/database-url.ts'
import { listenFailure } from '../gateway-process/listen-failure.ts'
import { type DoctorCheck, reasonOf } from './doctor-check.ts'
import { checkDatabaseIsHere } from '../data/database-note.ts'
import { asCommandError } from '@parley/command-line/wording'

/** Folder, secret, database and port of one instance. */
export async function checkInstance(settings: Settings, io: Io): Promise<DoctorCheck[]> {
  const data = dataDirAt(io.cwd, settings.dataDir)
  const isRunning = await answers(data)
  return [
    checkFolder(data),
    checkSecret(settings, data),
    await checkDatabase(settings, data, isRunning),
    await checkPort(settings, isRunning),
  ]
}

async function answers(data: DataDir): Promise<boolean> {
  if (!existsSync(data.adminSocket)) return false
  const admin = await connectSocket(data.adminSocket).catch(() => undefined)
  await admin?.close()
  return admin !== undefined
}

function checkFolder({ path }: DataDir): DoctorCheck {
  if (!existsSync(path)) return { name: 'data', status: 'missing', detail: `${path} is made by the first start` }
  if (isOpenToOthers(path))
    return { name: 'data', status: 'failed', detail: `${path} is open to other users`, hint: `chmod 700 ${path}` }
  return { name: 'data', status: 'ok', detail: path }
}

function checkSecret({ secret }: Settings, data: DataDir): DoctorCheck {
  if (secret !== undefined) return { name: 'secret', status: 'ok', detail: 'given by PARLEY_SECRET or the settings file' }
  try {
    const known = readSecret(data.secret)
    return known === undefined
      ? { name: 'secret', status: 'missing', detail: `${data.secret} is made by the first start` }
      : { name: 'secret', status: 'ok', detail: data.secret }
  } catch (error) {
    return {
      name: 'secret',
      status: 'failed',
      detail: reasonOf(error),
      hint: `chmod 600 ${data.secret}, or put the right one back`,
    }
  }
}

async function checkDatabase({ databaseUrl }: Settings, data: DataDir, isRunning: boolean): Promise<DoctorCheck> {
  if (isPostgres(databaseUrl)) return checkPostgres(databaseUrl ?? '')
  if (isRunning) return { name: 'database', status: 'ok', detail: `SQLite; a gateway runs on ${data.path} and answers` }
  if (databaseUrl === undefined) {
    try {
      checkDatabaseIsHere(data)
    } catch (error) {
      const { hint } = asCommandError(error)
      return { name: 'database', status: 'failed', detail: reasonOf(error), ...(hint === undefined ? {} : { hint }) }
    }
  }
  const size = statSync(data.database, { throwIfNoEntry: false })?.size
  if (size === undefined)
    return { name: 'database', status: 'missing', detail: `SQLite; ${data.database} is made by the first start` }
  return { name: 'database', status: 'ok', detail: `SQLite; ${data.database}, ${size} bytes, no gateway runs on it` }
}

async function checkPostgres(url: string): Promise<DoctorCheck> {
  const { openPostgres } = await import('@parley/store')
  try {
    const database = await openPostgres(url)
    try {
      await database.clock()
    } finally {
      await database.close()
    }
    return { name: 'database', status: 'ok', detail: 'PostgreSQL answers' }
  } catch (error) {
    return {
      name: 'database',
      status: 'failed',
      detail: reasonOf(error),
      hint: 'check that it runs and PARLEY_DATABASE_URL is right',
    }
  }
}

async function checkPort({ host, port }: Settings, isRunning: boolean): Promise<DoctorCheck> {
  if (isRunning) return { name: 'port', status: 'skipped', detail: 'a gateway runs already' }
  const authenticate = (): never => {
    throw new Denied(503, 'unavailable', 'this is only a test of the port')
  }
  try {
    const server = await openHttpServer({
      listen: { host, port },
      door: { authenticate, serviceFor: authenticate },
      stateKey: new Uint8Array(32),
    })
    await server.close(0)
    return { name: 'port', status: 'ok', detail: port === 0 ? 'any free one' : `${port} on ${host} is free` }
  } catch (error) {
    return {
      name: 'port',
      status: 'failed',
      detail: reasonOf(listenFailure(error, { host, port })),
      hint: 'choose another with --port; 0: any free one',
    }
  }
}
