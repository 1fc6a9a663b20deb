import * as z from 'zod'
import { CompareMode } from './compare.ts'

/** What became of one case. RUN: ran, nothing to compare with. SE: our own failure, never the program's. */
export const Verdict = z.enum(['AC', 'WA', 'PE', 'RE', 'TLE', 'ILE', 'MLE', 'OLE', 'CE', 'SE', 'RUN', 'SKIP', 'CANCELLED'])
export type Verdict = z.infer<typeof Verdict>

/** How an answer differed, with a piece of both around the place. */
export const CaseDiff = z.object({
  ok: z.boolean(),
  mode: CompareMode,
  message: z.string(),
  expected_preview_b64: z.string(),
  actual_preview_b64: z.string(),
})
export type CaseDiff = z.infer<typeof CaseDiff>

/** One case of a report. */
export const CaseResult = z.object({
  name: z.string(),
  group: z.string(),
  input_rel: z.string(),
  expected_rel: z.string().nullable(),
  expected_present: z.boolean(),
  hidden: z.boolean(),
  verdict: Verdict,
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  timeout: z.boolean(),
  output_limit_exceeded: z.boolean(),
  /** User and system time of the whole tree. */
  time_ms: z.number(),
  wall_ms: z.number(),
  memory_kb: z.int(),
  stdout_b64: z.string(),
  stderr_b64: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  diff: CaseDiff.nullable(),
  message: z.string().nullable(),
  points: z.number(),
  score: z.number(),
  /** How often it was run again: alone, because it came near its limit beside others, or because the first run seemed idle. */
  reruns: z.int(),
})
export type CaseResult = z.infer<typeof CaseResult>

/** One line of the `cases` log and the `item` of `case_result`: a case as soon as it is done. */
export const CaseItem = CaseResult.omit({ stdout_b64: true, stderr_b64: true }).extend({
  /** A claim that is given back leaves its number to the next one: `seq` tells them apart. */
  claim: z.int(),
  attempt: z.int(),
  index: z.int(),
  total: z.int(),
  /**
   * `CLAIM-N`, unique in the job: N counts the lines of one claim. When the part before the last `-` changes, another claim has begun the
   * cases again, after its judge died or gave the job back, and what was told before does not count. Absent in logs of older judges.
   */
  seq: z.string().optional(),
})
export type CaseItem = z.infer<typeof CaseItem>

/** Lines of the same round are of one run through the cases; with another one the cases begin again. */
export function caseRound({ seq, claim, attempt }: Pick<CaseItem, 'seq' | 'claim' | 'attempt'>): string {
  return `${seq === undefined ? claim : seq.slice(0, seq.lastIndexOf('-'))} ${attempt}`
}
