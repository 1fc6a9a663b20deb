import type { JobError, JobSpec, Report, Solution } from '@parley/protocol'
import type { TestListener } from '../tester.ts'

/** What an engine is asked for: a solution, or a better one than that of the last attempt. */
export interface GenerateRequest {
  readonly spec: JobSpec
  readonly inputFolder: string
  readonly attempt: number
  readonly claim: number
  /** What became of the attempt before; null for the first. */
  readonly previous: { readonly code: string; readonly report: Report } | null
}

export type Generated =
  | { readonly kind: 'code'; readonly code: string; readonly solution?: Solution; readonly calls: readonly ModelCall[] }
  | { readonly kind: 'failed'; readonly error: JobError; readonly calls: readonly ModelCall[] }

/** One call of a model, booked once by its id. */
export interface ModelCall {
  readonly id: string
  readonly usage: Readonly<Record<string, unknown>>
}

/** Writes solutions. A judge without one takes only code that is judged as it is. */
export interface Generator {
  generate(request: GenerateRequest, listener: Omit<TestListener, 'caseDone'>, signal: AbortSignal): Promise<Generated>
}
