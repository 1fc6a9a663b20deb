import * as z from 'zod'
import { JOB_LIMITS } from './limits.ts'
import { Language } from './language.ts'

/** How an answer is compared with what is expected. `checker` and `interactive` run a program that decides. */
export const CompareMode = z.enum(['tokens', 'trim_ws', 'exact', 'lines', 'unordered_lines', 'floats', 'checker', 'interactive'])
export type CompareMode = z.infer<typeof CompareMode>

/** For `floats`: a number is right when it is near enough by either measure. */
export const FloatTolerance = z.strictObject({
  absolute: z.number().min(0).max(1e9).default(1e-6),
  relative: z.number().min(0).max(1).default(1e-6),
})
export type FloatTolerance = z.infer<typeof FloatTolerance>

/** A program of the problem's author: a checker or an interactor, with testlib's arguments and exit codes. */
export const JudgeProgram = z.strictObject({
  language: Language.default('cpp'),
  source: z.string().min(1).max(JOB_LIMITS.codeBytes),
})
export type JudgeProgram = z.infer<typeof JudgeProgram>

export const TestsFormat = z.enum(['auto', 'in_out_pairs', 'manifest'])
export type TestsFormat = z.infer<typeof TestsFormat>
