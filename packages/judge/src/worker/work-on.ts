import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JobError, JobSpec, type Report, type SandboxFacts, type Solution, isSameLanguage } from '@parley/protocol'
import { WorkClock } from '../box/work-clock.ts'
import type { Tester } from '../tester.ts'
import { generateAndTest } from './attempts.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { Generator } from './generator.ts'
import type { HeldJob } from './held-job.ts'
import type { InputCache } from './input-cache.ts'
import { InputRefused } from './input-path.ts'
import type { JobLogs } from './job-logs.ts'
import { jobTimeMs } from './job-time.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface WorkParts {
  readonly job: HeldJob
  readonly logs: JobLogs
  readonly tester: Tester
  readonly generator: Generator | undefined
  readonly cache: InputCache
  readonly folder: string
  readonly limits: WorkerLimits
  readonly judgeName: string
  readonly sandbox: SandboxFacts
}

/** What the work on a job came to, before anything of it is told. */
export type Outcome =
  | {
      readonly kind: 'reported'
      readonly spec: JobSpec
      readonly attempt: number
      readonly code: string
      readonly solution?: Solution
      readonly report: Report
    }
  /** It cannot be judged, by anybody. */
  | {
      readonly kind: 'failed'
      readonly spec: JobSpec | undefined
      readonly attempt: number
      readonly code?: string
      readonly error: JobError
    }
  /** Another judge may know the language. */
  | { readonly kind: 'unsupported'; readonly spec: JobSpec }
  /** The job's signal came first. */
  | { readonly kind: 'stopped'; readonly spec: JobSpec | undefined }

/** Fetches the inputs and generates and tests until a solution holds or the attempts are used up. */
export async function workOn(parts: WorkParts): Promise<Outcome> {
  const { job, logs, tester, generator, limits, judgeName } = parts
  logs.status({ stage: 'analysis', level: 'info', summary: `claimed by ${judgeName}`, meta: { claim: job.claim.claim } })
  const inputs = await readInputs(parts)
  if (inputs.kind !== 'ready') return inputs.outcome
  const { spec, paths } = inputs
  if (!tester.languages.some(({ language }) => isSameLanguage(language, spec.language))) return { kind: 'unsupported', spec }
  const testMs = jobTimeMs(spec, paths, { slackMs: limits.jobSlackMs, mostMs: limits.jobMs })
  if (spec.model === null) return judgeOnly(parts, spec, testMs)
  if (generator !== undefined)
    return generateAndTest(parts, spec, generator, (attempt, code) => test(parts, { spec, attempt, code, testMs }))
  const message = `this judge has no engine, so nobody can write code with ${spec.model}; hand in code without a model to have it judged`
  return { kind: 'failed', spec, attempt: 1, error: { code: 'engine_missing', message } }
}

/** Code that is judged as it is. */
async function judgeOnly(parts: WorkParts, spec: JobSpec, testMs: number): Promise<Outcome> {
  const code = spec.seed.current_code
  const error = { code: 'no_code', message: 'there is neither code to judge nor a model to write some' }
  if (code === '') return { kind: 'failed', spec, attempt: 1, error }
  const report = await test(parts, { spec, attempt: 1, code, testMs })
  return { kind: 'reported', spec, attempt: 1, code, report }
}

type Inputs =
  | { readonly kind: 'ready'; readonly spec: JobSpec; readonly paths: readonly string[] }
  | { readonly kind: 'not'; readonly outcome: Outcome }

async function readInputs({ job, cache, folder, limits }: WorkParts): Promise<Inputs> {
  const input = join(folder, 'input')
  try {
    const { jobFileBytes, downloadsAtOnce } = limits
    const items = await fetchInputs({ source: job, cache, folder: input, jobFileBytes, downloadsAtOnce, signal: job.signal })
    return { kind: 'ready', spec: await readSpec(input, job.claim.jobId), paths: items.map(({ path }) => path) }
  } catch (error) {
    if (job.signal.aborted) return { kind: 'not', outcome: { kind: 'stopped', spec: undefined } }
    if (!(error instanceof InputRefused)) throw error
    const failed = { kind: 'failed', spec: undefined, attempt: 1, error: { code: error.code, message: error.message } } as const
    return { kind: 'not', outcome: failed }
  }
}

async function readSpec(input: string, jobId: string): Promise<JobSpec> {
  try {
    const spec = JobSpec.parse(JSON.parse(await readFile(join(input, 'job.json'), 'utf8')))
    if (spec.job_id === jobId) return spec
  } catch (cause) {
    throw new InputRefused('job.json is not what a judge can read', { cause })
  }
  throw new InputRefused('job.json belongs to another job')
}

/** One test, within the time that its cases can explain. Writing takes none of it, nor does waiting for the tests of others. */
async function test(
  { job, logs, tester, judgeName, folder }: WorkParts,
  what: { readonly spec: JobSpec; readonly attempt: number; readonly code: string; readonly testMs: number },
): Promise<Report> {
  const { spec, attempt, code, testMs } = what
  // Nobody has to wait for the word that it runs: the test begins meanwhile.
  const told = job.patch({ status: 'running_test', attempt })
  told.catch(() => {})
  const clock = new WorkClock(testMs, () => job.stop('timeout'))
  try {
    const request = { spec, code, inputFolder: join(folder, 'input'), attempt, claim: job.claim.claim, judgeName, clock }
    const report = await tester.test(request, logs, job.signal)
    await told
    return report
  } finally {
    clock.stop()
  }
}
