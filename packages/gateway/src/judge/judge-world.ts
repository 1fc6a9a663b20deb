import { serving, type ToolContext, type ToolWorld } from '@parley/access'
import type { ModelDirectory, QuotaBook } from '@parley/models'
import type { JudgeDesk } from './desk.ts'

/** What the tools of judges work with. */
export interface JudgeWorld extends ToolWorld {
  readonly desk: JudgeDesk
  readonly directory: ModelDirectory
  readonly quotas: QuotaBook
  /** Where somebody who called us by that name reaches us; without one, where everybody does. */
  readonly urlFor: (host: string | undefined) => string
}

export type JudgeContext = ToolContext<JudgeWorld>
export const serveTool = serving<JudgeWorld>()
