import { serving, type ToolWorld } from '@parley/access'
import type { AnnouncedGateways } from './announced-gateways.ts'
import type { LinkedWorkers } from './linked-workers.ts'

/** What the tools of hosts and executors work with. */
export interface WorkerWorld extends ToolWorld {
  readonly workers: LinkedWorkers
  readonly gateways: AnnouncedGateways
}

export const serveTool = serving<WorkerWorld>()
