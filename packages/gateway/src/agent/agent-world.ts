import { serving } from '@parley/access'
import type { GateDefault, Preset } from '@parley/protocol'
import type { Sealer } from '@parley/models'
import type { CallChain } from '@parley/rulebook'
import type { JobWorld } from '../job/job-world.ts'
import type { JudgeWorld } from '../judge/judge-world.ts'
import type { WorkerWorld } from '../worker/worker-world.ts'
import type { HostControls } from './host-controls.ts'

/** What new agents are made from, by name; an error says what is wrong with one. Asked each time: they are files that people change. */
export type Presets = () => Promise<ReadonlyMap<string, Preset | Error>>

/** What the tools of agents, mounts, grants and hosts work with. */
export interface AgentWorld extends WorkerWorld, Pick<JobWorld, 'watch'>, Pick<JudgeWorld, 'directory' | 'quotas' | 'urlFor'> {
  readonly presets: Presets
  /** Keeps the specifications of mounts at rest. */
  readonly mountSealer: Sealer
  /** Chains the logs of calls; null where there is a store without its secret. */
  readonly callChain: CallChain | null
  /** What is decided about a call of an agent that no rule of any policy covers. */
  readonly gate: GateDefault
  /** How long a call waits for a person. */
  readonly gateWaitMs: number
  readonly hostControls: HostControls
  /** Tells this installation from others, and gives nothing of it away. */
  readonly installation: string
}

export const serveTool = serving<AgentWorld>()
