import * as z from 'zod'

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

/** `usage.json`: tokens of one attempt. Cached tokens are a part of the others, never beside them. */
export const Usage = z.looseObject({
  schema_version: z.literal('usage.v1'),
  job_id: z.string(),
  codex_thread_id: z.string().nullable(),
  model: z.string(),
  usage: z.object({
    input_tokens: z.int().min(0),
    cached_input_tokens: z.int().min(0),
    output_tokens: z.int().min(0),
    cached_output_tokens: z.int().min(0),
  }),
})
export type Usage = z.infer<typeof Usage>
