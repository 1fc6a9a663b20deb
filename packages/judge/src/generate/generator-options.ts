import type { Commands, Engine, MountServer, Transcripts } from '@parley/agent'
import type { EngineName } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import type { Prepared } from '../worker/generator.ts'
import type { GenerateLimits } from './generate-limits.ts'

/** What an engine of one attempt is made of, beside the key and the model. */
export interface EnginePorts {
  readonly engine: EngineName
  readonly jobId: string
  /** Private to this job under this claim, hidden from what the engine runs, and gone with it. */
  readonly jobFolder: string
  /** The conversation's working folder. */
  readonly folder: string
  /** Survives this judge. */
  readonly transcripts: Transcripts
  /** Left out: this machine has no sandbox that could hold what a model runs. */
  readonly commands?: Commands
  /** Where a status server of another process reaches the job; only for engines that have a `statusServers` entry. */
  readonly statusSocket?: string
}

/** Opens the engine of one attempt. It is closed when the attempt ends. */
export type EngineFor = (prepared: Prepared, ports: EnginePorts) => Engine | Promise<Engine>

export interface GeneratorOptions {
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
