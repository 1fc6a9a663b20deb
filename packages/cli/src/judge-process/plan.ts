import type { ModelLimits } from '@parley/mini'
import type { JudgeFacts } from '@parley/protocol'
import type { InstalledPlaces } from '../installed/tool-places.ts'

/** Everything a judge needs to know. To a process of its own it goes over stdin, because argv and env can be seen by others. */
export interface JudgePlan {
  /** http(s): Streamable HTTP. ws(s): WebSocket. */
  readonly url: string
  readonly token: string
  readonly machineId: string
  /** What people are to call it; left out: as its token is named. */
  readonly name?: string
  readonly slots: number
  readonly sandbox: SandboxChoice
  /**
   * What drives models. `auto`: mini, and Codex for jobs that ask for it where there is one. `codex`: the same, and it must be
   * there and takes the jobs that do not say. `none`: only code that is judged as it is.
   */
  readonly engine: JudgeEngines
  /** The Codex to use: a file, or a name on PATH. Left out: `codex`. */
  readonly codexPath?: string
  /** Rounds of generate and test at most, whatever a job asks for. */
  readonly attempts?: number
  /** Bounds on asking a model; left out: those of the engine. */
  readonly model?: Partial<ModelLimits>
  /** Where jobs are unpacked. */
  readonly workFolder: string
  /** What is compiled once and used by every judge of this user. */
  readonly cacheFolder: string
  readonly tools: InstalledPlaces
  /** Folders that commands of engines may read beside the system. */
  readonly sandboxRead?: readonly string[]
  readonly logLevel: string
}

export const SANDBOX_CHOICES = ['auto', 'cage', 'bwrap', 'none'] as const
export type SandboxChoice = (typeof SANDBOX_CHOICES)[number]

export const ENGINE_CHOICES = ['auto', 'mini', 'codex', 'none'] as const
export type JudgeEngines = (typeof ENGINE_CHOICES)[number]

/** What a judge says when it waits for work. */
export interface JudgeReady {
  readonly machine_id: string
  /** What people call it. */
  readonly name: string
  readonly url: string
  readonly slots: number
  readonly languages: JudgeFacts['languages']
  readonly sandbox: JudgeFacts['sandbox']
}

/** Both ends are of one version and trust each other. */
export function parseJudgePlan(line: string): JudgePlan {
  const value: unknown = JSON.parse(line)
  if (isJudgePlan(value)) return value
  throw new TypeError('not a plan for a judge')
}

function isJudgePlan(value: unknown): value is JudgePlan {
  return typeof value === 'object' && value !== null && 'url' in value && 'token' in value && 'machineId' in value
}

export function isJudgeReady(value: unknown): value is JudgeReady {
  return typeof value === 'object' && value !== null && 'machine_id' in value && 'sandbox' in value
}
