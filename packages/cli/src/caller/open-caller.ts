import { existsSync } from 'node:fs'
import { type Connect, type SteadyClient } from '@parley/client'
import { WireError, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { instanceOf } from '../config/instance.ts'
import { dataDirAt } from '../data/data-dir.ts'
import { isPostgres } from '../config/database-url.ts'
import { requireRole } from './require-role.ts'
import { targetOf, withToken } from '../option/target.ts'
import { ownVersion } from '../version.ts'
import { openCommandClient } from '@parley/shell'
import { checkDatabaseIsHere } from '../data/database-note.ts'

/** The way to the tools of a gateway: the one that `--url` names, or the one that runs on the data folder. */
export async function openCaller(invocation: Invocation, needed: 'user' | 'admin' = 'user'): Promise<SteadyClient> {
  const { io } = invocation
  const { connect, missing } = wayTo(invocation, needed)
  try {
    return await openCommandClient(connect, io)
  } catch (error) {
    // A gateway that was killed leaves its socket behind.
    if (missing !== undefined && error instanceof WireError && error.code === 'unreachable') throw missing
    throw error
  }
}

interface Way {
  readonly connect: Connect
  /** What it means that nobody answers there, where we know better than the wire. */
  readonly missing?: CommandError
}

function wayTo(invocation: Invocation, needed: 'user' | 'admin'): Way {
  const options = { clientInfo: { name: 'parley', version: ownVersion() } }
  const target = targetOf(invocation, 'any')
  if (target !== undefined) {
    const known = withToken(target, needed)
    const isSocket = known.url.startsWith('ws')
    const open = isSocket ? webSocketTransport : httpTransport
    // A WebSocket opens the legacy way: only there can the gateway tell a job as it happens.
    const era = isSocket ? 'legacy' : 'auto'
    return {
      connect: async (heard, signal) =>
        requireRole(await connectClient(open(known), { ...options, era, onNotification: heard, signal }), needed),
    }
  }
  const settings = instanceOf(invocation)
  if (isPostgres(settings.databaseUrl))
    throw usageError(
      'on PostgreSQL this goes through a gateway by its URL',
      'give --url and --token-file, or PARLEY_URL and PARLEY_TOKEN',
    )
  const data = dataDirAt(invocation.io.cwd, settings.dataDir)
  const { adminSocket, path } = data
  const missing = new CommandError('gateway_missing', `no gateway runs on ${path}`)
  if (!existsSync(adminSocket)) {
    if (settings.databaseUrl === undefined) checkDatabaseIsHere(data)
    throw missing
  }
  const connect: Connect = (heard, signal) =>
    connectClient(httpTransport({ url: 'http://localhost/mcp', socketPath: adminSocket }), {
      ...options,
      onNotification: heard,
      signal,
    })
  return { connect, missing }
}
