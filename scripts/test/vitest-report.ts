import { readFileSync } from 'node:fs'
import { type Counts, NOTHING, withFailure } from './counts.ts'

/** What Vitest's JSON report says of one file, as far as it is counted here. */
interface FileReport {
  readonly status: string
  readonly assertionResults: readonly { readonly status: string }[]
}
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly FileReport[]
}

/** The counts of one run of Vitest: its report, if it wrote one, and its exit code. A run without any test has failed. */
export function countReport(path: string, exitCode: number): Counts {
  const report = readReport(path)
  if (report === undefined) return withFailure(NOTHING, exitCode === 0 ? 1 : exitCode)
  // One that cannot be loaded, or whose set-up fails: its tests are not run, and none of them has failed.
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const counts = {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
  return withFailure(counts, counts.passed + counts.failed + counts.skipped === 0 ? 1 : exitCode)
}

function readReport(path: string): Report | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isReport(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isReport(value: unknown): value is Report {
  if (typeof value !== 'object' || value === null) return false
  const numbers = ['numPassedTests', 'numFailedTests', 'numPendingTests', 'numTodoTests']
  const of = (key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value
  return numbers.every((key) => typeof of(key) === 'number') && Array.isArray(of('testResults'))
}
