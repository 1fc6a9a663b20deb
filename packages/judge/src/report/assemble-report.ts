import {
  type CaseResult,
  type CompileResult,
  type Discovery,
  type JobError,
  type JobSpec,
  type Report,
  type SandboxFacts,
  isUnjudged,
} from '@parley/protocol'
import type { SandboxReport } from '@parley/sandbox'
import type { TestRequest } from '../tester.ts'
import { streamBytes } from './case-result.ts'
import { groupScores } from './scores.ts'
import { summarize } from './summary.ts'

/** All that a report is made of. */
export interface ReportParts {
  readonly request: TestRequest
  readonly languageVersion: string | null
  readonly cppStandard: string | null
  readonly sandbox: SandboxReport
  /** Null when the job has no tests, or none that can be read. */
  readonly discovery: Discovery | null
  readonly compile: CompileResult | null
  readonly results: readonly CaseResult[]
  readonly isCancelled: boolean
  /** Why there is no verdict on the program, if that is so. */
  readonly error: JobError | null
}

const MESSAGE_CHARS = 4_000
const NO_TESTS = { cases: [], groups: [], notes: [] } as const

/** Makes the report. It succeeds when the program compiles and no case failed; where no case was judged it says so. */
export function assembleReport(parts: ReportParts): Report {
  const { request, discovery, compile, results, isCancelled } = parts
  const { cases, groups, notes } = discovery ?? NO_TESTS
  const scores = groupScores(groups, cases, results)
  const counted = summarize(cases.length, results, scores)
  const isBroken = compile !== null && !compile.ok
  const summary = isBroken
    ? { ...counted, first_failure_verdict: 'CE' as const, first_failure_message: compileComplaint(compile) }
    : counted
  const error = isCancelled ? cancelledError(cases.length, results) : (parts.error ?? errorOf(compile, summary, results))
  const status = isCancelled ? 'cancelled' : error === null ? 'succeeded' : 'failed'
  return {
    schema_version: 'report.v1',
    job_id: request.spec.job_id,
    owner_user_id: request.spec.owner_user_id,
    status,
    unjudged: isUnjudged({ status, summary }),
    mode: request.spec.tests.present ? 'compile_and_test' : 'compile_only',
    attempt: request.attempt,
    claim: request.claim,
    environment: environmentOf(request.spec, parts),
    compile,
    tests: [...results],
    groups: scores,
    summary,
    error,
    truncation: { max_stream_bytes: streamBytes(cases.length), terminal_log_truncated: false },
    notes: [...notes],
  }
}

function cancelledError(total: number, results: readonly CaseResult[]): JobError {
  const done = results.filter(({ verdict }) => verdict !== 'CANCELLED').length
  const message =
    total === 0 ? 'cancelled before a case was run' : `cancelled after ${done} of ${total} ${total === 1 ? 'case' : 'cases'}`
  return { code: 'cancelled', message }
}

function errorOf(compile: CompileResult | null, summary: Report['summary'], results: readonly CaseResult[]): JobError | null {
  // Without a word of the compiler nothing was tried, whatever the reason: that is never a success.
  if (compile === null) return { code: 'judge_error', message: 'the solution was not compiled' }
  if (!compile.ok) return { code: 'compile_error', message: compileComplaint(compile) }
  if (summary.failed === 0) return null
  const broken = results.find(({ verdict }) => verdict === 'SE')
  if (broken !== undefined)
    return { code: 'judge_error', message: cut(`case ${broken.name}: ${broken.message ?? 'could not be judged'}`) }
  const { failed, judged, run_only, first_failure, first_failure_verdict } = summary
  return {
    code: 'tests_failed',
    message: cut(`${failed} of ${judged + run_only} failed, ${first_failure} first (${first_failure_verdict})`),
  }
}

/** The first line that says `error`, else the first line, else how the compiler ended. */
function compileComplaint({ stdout_b64, stderr_b64, message, exit_code }: CompileResult): string {
  const lines = [stderr_b64, stdout_b64].flatMap((text) => Buffer.from(text, 'base64').toString('utf8').split('\n'))
  const said = lines.find((line) => /error/i.test(line)) ?? lines.find((line) => line.trim() !== '')
  const limit = exit_code === null || exit_code === 0 ? message : null
  return cut([limit ?? '', said?.trim() ?? ''].filter((part) => part !== '').join(': ') || (message ?? 'it does not compile'))
}

function environmentOf({ language, tests, limits }: JobSpec, parts: ReportParts): Report['environment'] {
  return {
    language,
    language_version: parts.languageVersion,
    cpp_std: parts.cppStandard,
    compare_mode: tests.compare.mode,
    time_limit_ms: limits.time_limit_ms,
    memory_limit_mb: limits.memory_limit_mb,
    cpus: limits.cpus,
    pids_limit: limits.pids_limit,
    max_output_bytes_per_test: limits.max_output_bytes_per_test,
    judge: parts.request.judgeName,
    sandbox: sandboxFacts(parts.sandbox),
  }
}

const sandboxFacts = ({ driver, tier, enforced, missing }: SandboxReport): SandboxFacts => ({
  driver,
  tier,
  enforced: { ...enforced },
  missing: [...missing],
})

const cut = (text: string): string => (text.length > MESSAGE_CHARS ? `${text.slice(0, MESSAGE_CHARS - 1)}…` : text)
