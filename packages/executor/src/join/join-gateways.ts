import { randomBytes } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { arch, availableParallelism, loadavg, platform } from 'node:os'
import { basename } from 'node:path'
import type { Connect } from '@parley/client'
import { type GatewayAddress, iso, messageOf, WORKER_LIMITS, type WorkerLabels, type WorkerLoad } from '@parley/protocol'
import type { ExecServer } from '../server/exec-server.ts'
import { ControlLink, type Heartbeat, type HeartbeatAnswer } from './control-link.ts'

const INSTANCE_BYTES = 16
const PROGRAM_CHARS = 128

/** How a gateway is reached, by its URL. */
export type ControlConnect = (url: string) => Connect

export interface JoinOptions {
  /** The gateway that is dialled first: `http://host:port` or `https://…`. It tells of the others. */
  readonly url: string
  readonly token: string
  readonly connect: ControlConnect
  readonly server: ExecServer
  readonly version: string
  /** Left out: as the token is named. */
  readonly name?: string
  readonly labels: WorkerLabels
  readonly slots: number
  readonly log: (message: string) => void
  /** Gives up the wait for the first gateway, which may be away for as long as it likes. */
  readonly signal?: AbortSignal
}

export interface Joined {
  /** What it is called there. */
  readonly name: string
  close(): Promise<void>
}

/** Takes part as an executor: holds a connection to every gateway, and dials back when somebody wants to reach it. Throws why it may not. */
export async function joinGateways(options: JoinOptions): Promise<Joined> {
  const { url: first, server, log } = options
  const instance = randomBytes(INSTANCE_BYTES).toString('hex')
  const links = new Map<string, ControlLink>()
  /** Which gateway answered at a URL last: several may stand behind one. */
  const answered = new Map<string, string>()
  const refused = new Set<string>()
  const drainWords = { count: 0 }
  let isClosed = false

  const open = (url: string): ControlLink => {
    const link = new ControlLink({
      url,
      token: options.token,
      connect: options.connect(url),
      server,
      drainWords,
      heartbeat: () => heartbeatOf(options, instance),
      told: (told) => heard(url, told),
      lost: () => {
        for (const [other, each] of links) if (other !== url) each.hurry()
      },
      log,
    })
    links.set(url, link)
    return link
  }
  const drop = (url: string): void => {
    void links.get(url)?.close()
    links.delete(url)
    answered.delete(url)
  }
  const heard = (url: string, { gateway, gateways }: HeartbeatAnswer): void => {
    if (isClosed) return
    answered.set(url, gateway)
    for (const known of links.keys()) if (known !== first && !gateways.some((each) => each.url === known)) drop(known)
    for (const each of gateways) meet(each)
  }
  const meet = ({ id, url }: GatewayAddress): void => {
    if (links.has(url) || refused.has(url) || [...answered.values()].includes(id)) return
    if (!isAsSafe(url, first)) {
      refused.add(url)
      return log(`${url} is not dialled: the token would go there unencrypted`)
    }
    open(url)
      .begin()
      .then((told) => heard(url, told))
      .catch((error: unknown) => {
        if (isClosed) return
        log(`${url}: ${messageOf(error)}`)
        drop(url)
      })
  }
  const close = async (): Promise<void> => {
    isClosed = true
    await Promise.all([...links.values()].map((link) => link.close()))
  }
  const giveUp = (): void => void close()
  options.signal?.addEventListener('abort', giveUp, { once: true })
  try {
    const told = await open(first).begin()
    heard(first, told)
    return { name: told.name, close }
  } catch (error) {
    await close()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', giveUp)
  }
}

function heartbeatOf({ name, labels, slots, version, server }: JoinOptions, instance: string): Heartbeat {
  return {
    instance,
    ...(name === undefined ? {} : { name }),
    labels,
    slots,
    facts: { version, os: platform(), arch: arch(), cores: availableParallelism() },
    load: loadOf(server),
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

/** A token that went out encrypted goes nowhere else unencrypted, but to this machine itself. */
function isAsSafe(url: string, first: string): boolean {
  if (!first.startsWith('https:') || url.startsWith('https:')) return true
  const host = URL.parse(url)?.hostname ?? ''
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}
