import type { CaseResult, GroupScore, ReportSummary, Verdict } from '@parley/protocol'
import { isFailure } from './judged.ts'
import { sum } from './scores.ts'

const UNRUN: ReadonlySet<Verdict> = new Set<Verdict>(['SKIP', 'CANCELLED'])

/** Counts of a report. */
export function summarize(total: number, results: readonly CaseResult[], groups: readonly GroupScore[]): ReportSummary {
  const failures = results.filter(isFailure)
  const passed = results.filter(({ verdict }) => verdict === 'AC').length
  const [first] = failures
  return {
    total,
    judged: passed + failures.length,
    run_only: results.filter(({ verdict }) => verdict === 'RUN').length,
    passed,
    failed: failures.length,
    skipped: total - results.length + results.filter(({ verdict }) => UNRUN.has(verdict)).length,
    first_failure: first?.name ?? null,
    first_failure_verdict: first?.verdict ?? null,
    first_failure_message: first?.message ?? null,
    score: sum(groups.map(({ score }) => score)),
    max_score: sum(groups.map(({ points }) => points)),
    time_ms: Math.max(0, ...results.map(({ time_ms }) => time_ms)),
    memory_kb: Math.max(0, ...results.map(({ memory_kb }) => memory_kb)),
  }
}
