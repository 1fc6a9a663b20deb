import type { ModelLimits } from '@parley/mini'
import type { WorkerLabels } from '@parley/protocol'

/** Everything a host needs to know. To a process of its own it goes over stdin, because argv and env can be seen by others. */
export interface HostPlan {
  /** The gateway that is dialled first: `http://host:port` or `https://…`. */
  readonly url: string
  readonly token: string
  /** Left out: as its token is named. */
  readonly name?: string
  readonly labels: WorkerLabels
  /** Agents that it holds at once. */
  readonly slots: number
  /** Folders that mounts may be given, where the gateway grants it, with all below them. */
  readonly roots: readonly string[]
  /** The data folder: below it each agent has one of its own. */
  readonly dataFolder: string
  readonly cacheFolder: string
  /** Folders that boxed programs may read beside the system. */
  readonly sandboxRead: readonly string[]
  /** The Codex of agents that want one: a file, or a name on PATH. Left out: `codex`. */
  readonly codexPath?: string
  /** Bounds on asking a model; left out: those of the engine. */
  readonly model: Partial<ModelLimits>
  /** What mounted programs get of the environment. */
  readonly env: Readonly<Record<string, string>>
  readonly logLevel: string
}

/** What a host says when it takes part. */
export interface HostReady {
  readonly name: string
  readonly url: string
  readonly slots: number
}

/** Both ends are of one version and trust each other. */
export function parseHostPlan(line: string): HostPlan {
  const value: unknown = JSON.parse(line)
  if (isHostPlan(value)) return value
  throw new TypeError('not a plan for a host')
}

function isHostPlan(value: unknown): value is HostPlan {
  return typeof value === 'object' && value !== null && 'token' in value && 'roots' in value && 'dataFolder' in value
}

export function isHostReady(value: unknown): value is HostReady {
  return typeof value === 'object' && value !== null && 'name' in value && 'slots' in value
}
