import { arch, availableParallelism, platform } from 'node:os'
import { dialTunnel } from '@parley/executor'
import { openHost, openHostMounts } from '@parley/host'
import { TUNNEL_TICKET_HEADER } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { plainText } from '@parley/screen'
import { toolchainsOf } from '../installed/toolchains.ts'
import { connectAt } from '../process/connect-worker.ts'
import type { Opened } from '../process/lifeline.ts'
import { workerLog } from '../process/worker-log.ts'
import { ownVersion } from '../version.ts'
import type { HostPlan, HostReady } from './plan.ts'

const INSTANCE_BYTES = 16

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
    toolchains: (hidden) => toolchainsOf(plan.sandboxRead, plan.env, hidden),
    log: (level, message) => log(level, plainText(message)),
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
      folders: mounts.folders,
      version,
      now: ports.now,
      log,
      ...(ports.signal === undefined ? {} : { signal: ports.signal }),
    })
    const close = async (): Promise<void> => {
      await host.close()
      await mounts.close()
    }
    return { ready: { name: host.name, url, slots }, close }
  } catch (error) {
    await mounts.close()
    throw error
  }
}
