import { serving, type ToolContext, type ToolWorld } from '@parley/access'
import type { ModelDirectory, QuotaBook } from '@parley/models'
import type { Creations } from '../blob/inputs-share.ts'
import type { JudgesHere } from '../presence/judges-here.ts'
import type { JobWatch } from './stream/watch.ts'

/** What the tools of jobs work with. */
export interface JobWorld extends ToolWorld {
  readonly creations: Creations
  readonly watch: JobWatch
  readonly directory: ModelDirectory
  readonly quotas: QuotaBook
  /** The judges that are here, and why a job waits. */
  readonly here: JudgesHere
  /** Where somebody who called us by that name reaches us; without one, where everybody does. */
  readonly urlFor: (host: string | undefined) => string
}

export type JobContext = ToolContext<JobWorld>
export const serveTool = serving<JobWorld>()
