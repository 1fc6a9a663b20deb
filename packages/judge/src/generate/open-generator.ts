import type { Generator } from '../worker/generator.ts'
import { Attempt } from './attempt.ts'
import { GENERATE_LIMITS } from './generate-limits.ts'
import type { GeneratorOptions } from './generator-options.ts'
import { Redactor } from './redact.ts'

/** Jobs whose keys are remembered for their reports. */
const JOBS_MAX = 256

/** Makes engines write solutions, attempt by attempt, in one conversation that outlives this judge. */
export function openGenerator(options: GeneratorOptions): Generator {
  const limits = { ...GENERATE_LIMITS, ...options.limits }
  const redactors = new Map<string, Redactor>()
  const redactorOf = (jobId: string): Redactor => {
    const redactor = redactors.get(jobId) ?? new Redactor(options.secrets)
    redactors.delete(jobId)
    redactors.set(jobId, redactor)
    const [oldest] = redactors.keys()
    if (redactors.size > JOBS_MAX && oldest !== undefined) redactors.delete(oldest)
    return redactor
  }
  return {
    generate: (request, voice, signal) =>
      new Attempt({ options, limits, request, voice, redactor: redactorOf(request.spec.job_id), signal }).run(),
    cleaned: (report) => redactorOf(report.job_id).report(report),
  }
}
