import type { ControlConnect, Heartbeat } from '@parley/client/worker'
import type { FrameLink } from '@parley/rpc/frame'
import type { AgentFolders } from './mount/agent-folders.ts'
import type { ReachMount } from './mount/reach-mount.ts'
import type { TurnPorts } from './turn/turn-ports.ts'

export interface HostOptions {
  /** The gateway that is dialled first; it tells of the others. */
  readonly url: string
  readonly connect: ControlConnect
  /** Dials back with the ticket of a tunnel. */
  readonly dialBack: (gateway: string, ticket: string) => Promise<FrameLink>
  /** What is said of this host each time, but for what it has to do. */
  readonly about: () => Omit<Heartbeat, 'load' | 'slots'>
  readonly slots: number
  readonly reachMount: ReachMount
  /** What agents of ours take turns with. */
  readonly turns: TurnPorts
  readonly folders: AgentFolders
  readonly version: string
  readonly now: () => number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Gives up while no gateway has answered yet. */
  readonly signal?: AbortSignal
}

export interface Host {
  readonly name: string
  /** How many agents it holds. */
  held(): number
  /** Gives its agents back and ends. */
  close(): Promise<void>
}
