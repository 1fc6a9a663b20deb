import * as z from 'zod'
import { TokenUsage } from '../model/usage.ts'

/** `solution.json`: what an engine says about its own solution. Absent for code that is judged as it is. */
export const Solution = z.looseObject({
  schema_version: z.literal('solution.v1'),
  job_id: z.string(),
  solution_idea: z.string(),
  seed_code_idea: z.string(),
  seed_code_bug_reason: z.string(),
  user_feedback_md: z.string(),
  seed_code_issue_type: z.enum(['wrong_approach', 'minor_bug', 'no_seed_code']),
  seed_code_wrong_lines: z.array(z.int()),
  seed_code_fix_diff: z.string(),
  seed_code_full_diff: z.string(),
  assumptions: z.array(z.string()),
  complexity: z.string(),
})
export type Solution = z.infer<typeof Solution>

/** `usage.json`: tokens of all calls of a job, failed attempts included. Cached tokens are a part of the others, never beside them. */
export const Usage = z.looseObject({
  schema_version: z.literal('usage.v1'),
  job_id: z.string(),
  codex_thread_id: z.string().nullable(),
  model: z.string(),
  usage: TokenUsage.partial({ reasoning_output_tokens: true }),
  /** Of the priced calls; null when none has a price. */
  cost_microusd: z.int().nullable().optional(),
  calls: z.int().optional(),
  unpriced_calls: z.int().optional(),
  estimated_calls: z.int().optional(),
  /** The tokens are those of a script: no model was asked, nothing is to be paid. */
  script: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>
