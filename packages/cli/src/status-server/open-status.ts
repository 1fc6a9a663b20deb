import { resolve } from 'node:path'
import { unavailableStatus } from '@parley/judge/unavailable-status'
import { messageOf, STATUS_LIMITS } from '@parley/protocol'
import type { Service } from '@parley/rpc'
import type { Invocation } from '@parley/command-line'
import { ownVersion } from '../version.ts'
import { relayToSocket } from './relay-to-socket.ts'

/** What stands behind a status server. */
export interface OpenStatus {
  readonly service: Service
  close(): Promise<void>
}

/** A self-test may take as long as it says, and a little for the way. */
const CALL_MS = (STATUS_LIMITS.selfTestSeconds.max + 60) * 1_000

/**
 * The way to the job: a folder that is named here, the judge that started the engine, or a folder in the environment. One
 * that cannot be had is said by every call, because an engine whose server does not start says less.
 */
export async function openStatus(invocation: Pick<Invocation, 'io' | 'values'>): Promise<OpenStatus> {
  const { io, values } = invocation
  const version = ownVersion()
  const given = values.text('job-dir')
  const socketPath = nonEmpty(io.env['PARLEY_STATUS_SOCKET'])
  const folder = given ?? (socketPath === undefined ? nonEmpty(io.env['REALMOI_JOB_DIR']) : undefined)
  const missing = (message: string, hint: string): OpenStatus => ({
    service: unavailableStatus({ message, hint }, version),
    close: () => Promise.resolve(),
  })
  if (folder !== undefined) {
    // A tester comes with it, which takes longer to load than all the rest; an engine that has a judge needs none.
    const { openJobFolder } = await import('./job-folder.ts')
    return openJobFolder(resolve(io.cwd, folder), invocation).catch((error: unknown) =>
      missing(messageOf(error), `${given === undefined ? 'REALMOI_JOB_DIR' : '--job-dir'} must be the folder of a job`),
    )
  }
  if (socketPath === undefined)
    return missing('there is no job: neither PARLEY_STATUS_SOCKET nor REALMOI_JOB_DIR is set', 'a judge sets the first one')
  try {
    const relay = await relayToSocket({ socketPath, clientName: 'parley-status-server', callMs: CALL_MS }, { io })
    return { service: relay, close: () => relay.close() }
  } catch (error) {
    return missing(`no judge answers at ${socketPath}: ${messageOf(error)}`, 'PARLEY_STATUS_SOCKET names it')
  }
}
const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text)
