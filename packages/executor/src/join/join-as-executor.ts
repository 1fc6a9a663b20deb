import { randomBytes } from 'node:crypto'
import { arch, availableParallelism, loadavg, platform } from 'node:os'
import { basename } from 'node:path'
import { type AskedTunnel, type Joined, type JoinOptions, joinGateways } from '@parley/client/worker'
import { iso, messageOf, TUNNEL_TICKET_HEADER, WORKER_LIMITS, type WorkerLabels, type WorkerLoad } from '@parley/protocol'
import { dialTunnel } from '../client/dial-tunnel.ts'
import type { ExecServer } from '../server/exec-server.ts'

const INSTANCE_BYTES = 16
const PROGRAM_CHARS = 128

export interface JoinAsExecutorOptions extends Pick<JoinOptions, 'url' | 'connect' | 'log' | 'signal'> {
  readonly token: string
  readonly server: ExecServer
  readonly version: string
  /** Left out: as the token is named. */
  readonly name?: string
  readonly labels: WorkerLabels
  readonly slots: number
}

/** Lets an exec-server take part as an executor: it dials back when somebody wants to reach it. Throws why it may not. */
export async function joinAsExecutor(options: JoinAsExecutorOptions): Promise<Joined> {
  const { url, connect, log, server, name, labels, slots, version } = options
  const instance = randomBytes(INSTANCE_BYTES).toString('hex')
  const ended = new AbortController()
  const joined = await joinGateways({
    url,
    connect,
    log,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    worker: { drain: (isDraining) => server.drain(isDraining), open: (asked) => void serve(options, asked, ended.signal) },
    heartbeat: () => ({
      instance,
      ...(name === undefined ? {} : { name }),
      labels,
      slots,
      facts: { version, os: platform(), arch: arch(), cores: availableParallelism() },
      load: loadOf(server),
    }),
  })
  return {
    ...joined,
    close: () => {
      ended.abort()
      return joined.close()
    },
  }
}

/** Dials back with the ticket, and serves whoever is at the other end. */
async function serve(
  { token, server, log }: JoinAsExecutorOptions,
  { gateway, ticket }: AskedTunnel,
  ended: AbortSignal,
): Promise<void> {
  try {
    const link = await dialTunnel(gateway, { token, headers: { [TUNNEL_TICKET_HEADER]: ticket } })
    if (ended.aborted) link.close()
    else server.serve(link)
  } catch (error) {
    log(`a tunnel could not be opened: ${messageOf(error)}`)
  }
}

function loadOf(server: ExecServer): WorkerLoad {
  const { sessions, processes } = server.load()
  const shown = processes.slice(0, WORKER_LIMITS.processes)
  return {
    sessions,
    running: processes.length,
    processes: shown.map(({ command, sinceMs }) => ({ program: programOf(command), since: iso(sinceMs) })),
    load_1m: loadavg()[0] ?? 0,
  }
}

/** A cut may go through a character, and a gateway takes whole ones alone. */
const programOf = (command: string): string => basename(command).slice(0, PROGRAM_CHARS).toWellFormed()
