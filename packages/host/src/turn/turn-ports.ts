import type { EngineFor, MountServer } from '@parley/agent'
import type { EngineName } from '@parley/protocol'
import type { Toolchains } from '@parley/sandbox'
import type { HostSandbox } from '../mount/host-sandbox.ts'
import type { TurnLimits } from './turn-limits.ts'

/** What agents of ours need to take turns on this host. */
export interface TurnPorts {
  /** Opens the engine of a conversation. It is closed when the agent rests, or is set otherwise. */
  readonly engineFor: EngineFor
  /** For agents that do not say. */
  readonly defaultEngine: EngineName
  readonly sandbox: HostSandbox
  /** What commands may use beside the system; throws what is wrong with the settings for it. */
  readonly toolchains: (hidden: readonly string[]) => Toolchains
  /** Below it each agent has a folder of its own. No command sees the rest of it. */
  readonly dataFolder: string
  readonly cacheFolder: string
  /** Folders that agents may be given, where the gateway grants it, with all below them. */
  readonly roots: readonly string[]
  /** Engines that mount the compositor as a process: how one is started so that it reaches the socket. All others get it linked. */
  readonly relayedServers?: Partial<Record<EngineName, (socketPath: string) => MountServer>>
  readonly limits?: Partial<TurnLimits>
}
