import { arch, availableParallelism, platform } from 'node:os'
import { dialTunnel } from '@parley/executor'
import { openHost, openHostMounts, type TurnPorts } from '@parley/host'
import { TUNNEL_TICKET_HEADER } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { plainText } from '@parley/screen'
import { checkCodex, type CodexWanted } from '../engine/check-codex.ts'
import { openModelEngines } from '../engine/open-model-engines.ts'
import { relayedServer } from '../engine/own-files.ts'
import { toolchainsOf } from '../installed/toolchains.ts'
import { connectAt } from '../process/connect-worker.ts'
import type { Opened } from '../process/lifeline.ts'
import { workerLog } from '../process/worker-log.ts'
import { ownVersion } from '../version.ts'
import type { HostPlan, HostReady } from './plan.ts'

const INSTANCE_BYTES = 16
/** To the gateway's models at once; agents that are more wait for each other. */
const CONNECTIONS_MAX = 128

/** A host in this process, once its gateway has taken it. */
export async function openHostHere(
  plan: HostPlan,
  ports: Pick<Io, 'now' | 'random' | 'err'> & { readonly signal?: AbortSignal },
): Promise<Opened<HostReady>> {
  const { url, token, name, labels, slots } = plan
  const log = workerLog('host', plan, ports)
  const mounts = openHostMounts({
    ...plan,
    now: ports.now,
    renew: async (signIn, url, reach) => (await import('@parley/oauth')).refreshTokens(signIn, url, ports.now, reach),
    toolchains: (below) => toolchainsOf(plan.sandboxRead, plan.env, below),
    log: (level, message) => log(level, plainText(message)),
  })
  const hidden = [plan.dataFolder, plan.cacheFolder]
  const toolchains = (below: readonly string[]) => toolchainsOf(plan.sandboxRead, plan.env, below)
  const engines = openModelEngines({
    clientName: 'parley-host',
    codex: async () => checkCodex(codexWanted(plan), await mounts.sandbox()),
    hidden,
    readable: () => toolchains(hidden).readable,
    connections: Math.min(slots, CONNECTIONS_MAX),
    limits: plan.model,
    now: ports.now,
    random: ports.random,
    err: ports.err,
    warn: (message) => log('warn', plainText(message)),
  })
  const instance = Buffer.from(ports.random(INSTANCE_BYTES)).toString('hex')
  const version = ownVersion()
  try {
    const host = await openHost({
      url,
      connect: connectAt('host', token),
      dialBack: (gateway, ticket) => dialTunnel(gateway, { token, headers: { [TUNNEL_TICKET_HEADER]: ticket } }),
      about: () => ({
        instance,
        ...(name === undefined ? {} : { name }),
        labels,
        facts: { version, os: platform(), arch: arch(), cores: availableParallelism() },
      }),
      slots,
      reachMount: mounts.reach,
      turns: {
        engineFor: engines.engineFor,
        defaultEngine: 'mini',
        sandbox: mounts.sandbox,
        toolchains,
        dataFolder: plan.dataFolder,
        cacheFolder: plan.cacheFolder,
        roots: plan.roots,
        relayedServers: RELAYED,
      },
      folders: mounts.folders,
      version,
      now: ports.now,
      log,
      ...(ports.signal === undefined ? {} : { signal: ports.signal }),
    })
    const close = async (): Promise<void> => {
      await host.close()
      await engines.close()
      await mounts.close()
    }
    return { ready: { name: host.name, url, slots }, close }
  } catch (error) {
    await engines.close()
    await mounts.close()
    throw error
  }
}

/** An engine in a box starts a relay there. */
const RELAYED: NonNullable<TurnPorts['relayedServers']> = {
  codex: (socketPath) => relayedServer('agent-server', { PARLEY_AGENT_SOCKET: socketPath }),
}

/** Agents that want a Codex say so themselves. */
const codexWanted = ({ codexPath, env }: HostPlan): CodexWanted => ({
  engine: 'auto',
  ...(codexPath === undefined ? {} : { codexPath }),
  tools: { searchPath: (env['PATH'] ?? '').split(':') },
})
