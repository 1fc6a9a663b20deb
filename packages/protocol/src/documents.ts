import type * as z from 'zod'
import { AgentStatusItem } from './job/agent-status.ts'
import { CaseItem } from './job/case.ts'
import { ModelScript } from './model/script.ts'
import { Report } from './job/report.ts'
import { Solution, Usage } from './job/solution.ts'
import { JobSpec } from './job/spec.ts'
import { JobState } from './job/state.ts'

/** Documents that a job is made of and leaves behind, by the name of their file. Their schemas are published. */
export const DOCUMENTS = {
  agent_status: { schema: AgentStatusItem, doc: 'One line of `agent_status.jsonl`.' },
  case: { schema: CaseItem, doc: 'One line of the log of finished cases.' },
  job: { schema: JobSpec, doc: '`input/job.json`: what is asked for.' },
  report: { schema: Report, doc: '`report.json`: what the judge found.' },
  script: { schema: ModelScript, doc: 'A file of answers that a `script` channel plays instead of asking a model.' },
  solution: { schema: Solution, doc: '`solution.json`: what an engine says about its solution.' },
  state: { schema: JobState, doc: '`state.json`: what became of the job so far.' },
  usage: { schema: Usage, doc: '`usage.json`: the tokens and the cost of all calls of a job.' },
} as const satisfies Record<string, { readonly schema: z.ZodObject; readonly doc: string }>
