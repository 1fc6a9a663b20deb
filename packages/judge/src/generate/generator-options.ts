import type { EngineFor, MountServer } from '@parley/agent'
import type { EngineName } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import type { GenerateLimits } from './generate-limits.ts'

export interface GeneratorOptions {
  /** What it opens is closed when the attempt ends. */
  readonly engineFor: EngineFor
  /** Those that `engineFor` knows on this machine; a job that asks for another fails. Default: `mini`. */
  readonly engines?: readonly EngineName[]
  /** For jobs that do not say. Default: `mini`. */
  readonly defaultEngine?: EngineName
  /** Left out, or without isolation: engines run no commands. */
  readonly sandbox?: Sandbox
  /** Hidden from commands beside the homes: data folders, what other jobs have. */
  readonly hidden?: readonly string[]
  /** What commands may read beside the system and their folder: toolchains. */
  readonly readable?: readonly string[]
  /** Variables of commands beside the usual ones. */
  readonly environment?: Readonly<Record<string, string>>
  /** Whether commands may have a network. Default: no. */
  readonly network?: boolean
  /** Never to be seen in anything that leaves: the judge's own token, and whatever else. The model's key is added by itself. */
  readonly secrets?: readonly string[]
  /** Engines that mount the status server as a process: how it is started so that it reaches the socket. All others get it linked. */
  readonly statusServers?: Partial<Record<EngineName, (socketPath: string) => MountServer>>
  /** Our own, for the status server. */
  readonly version: string
  readonly now: () => number
  readonly limits?: Partial<GenerateLimits>
}
