import * as z from 'zod'
import { CompareMode } from '../job/compare.ts'

/** One case as `job.get_tests` lists it. Paths start with `tests/` and are names in the job's inputs. */
export const TestCase = z.object({
  name: z.string(),
  group: z.string(),
  input_rel: z.string(),
  expected_rel: z.string().nullable(),
  expected_present: z.boolean(),
  hidden: z.boolean(),
  points: z.number(),
  /** The case's own way to compare; null: the job's. */
  compare_mode: CompareMode.nullable(),
})
export type TestCase = z.infer<typeof TestCase>
