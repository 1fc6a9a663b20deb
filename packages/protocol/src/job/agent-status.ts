import * as z from 'zod'

export const AgentStage = z.enum(['analysis', 'plan', 'search', 'coding', 'test', 'repair', 'done', 'error'])
export type AgentStage = z.infer<typeof AgentStage>

/** One line of `agent_status.jsonl` and the `item` of `agent_status`. `seq` is unique within the job. */
export const AgentStatusItem = z.looseObject({
  ts: z.string(),
  job_id: z.string(),
  attempt: z.int(),
  stage: AgentStage,
  level: z.enum(['info', 'warn', 'error']),
  progress: z.number().nullable(),
  summary: z.string(),
  kind: z.string().optional(),
  delta: z.string().optional(),
  meta: z.record(z.string(), z.unknown()),
  seq: z.string(),
})
export type AgentStatusItem = z.infer<typeof AgentStatusItem>
