import type { CaseResult, Report } from '@parley/protocol'

/** How much of a case's message stays when there is no room for more. */
const MESSAGE_CHARS = 100

/**
 * The report within a bound, by leaving out what matters least: first what passed cases printed, then what any printed,
 * then the pieces of differing answers, then most of the messages, and at last the paths. Names, verdicts, times and the
 * summary always stay. With as many cases as a job may have and names as long as they may be, that fits an artifact.
 */
export function fitReport(report: Report, limitBytes: number): Report {
  const steps: readonly ((result: CaseResult) => CaseResult)[] = [
    (result) => (result.verdict === 'AC' ? withoutOutput(result) : result),
    withoutOutput,
    (result) => ({ ...withoutOutput(result), diff: null }),
    withoutWords,
    (result) => ({ ...withoutWords(result), input_rel: '', expected_rel: null }),
  ]
  let fitted = report
  for (const step of steps) {
    if (Buffer.byteLength(JSON.stringify(fitted)) <= limitBytes) return fitted
    fitted = { ...report, tests: report.tests.map(step), notes: [...report.notes, NOTE] }
  }
  return fitted
}

const NOTE = 'what programs printed, or more, was left out: the report would have grown too large'

function withoutOutput(result: CaseResult): CaseResult {
  return {
    ...result,
    stdout_b64: '',
    stderr_b64: '',
    stdout_truncated: result.stdout_truncated || result.stdout_b64 !== '',
    stderr_truncated: result.stderr_truncated || result.stderr_b64 !== '',
  }
}

function withoutWords(result: CaseResult): CaseResult {
  const message = result.message === null ? null : Array.from(result.message).slice(0, MESSAGE_CHARS).join('')
  return { ...withoutOutput(result), diff: null, message }
}
