import type { CaseResult, TestCase, Verdict } from '@parley/protocol'
import { NoPlace } from '../box/shared-places.ts'
import { Cancelled } from '../compile/shared-work.ts'
import { caseItem, caseResult, streamBytes } from '../report/case-result.ts'
import { isFailure } from '../report/judged.ts'
import { caseLine } from '../report/lines.ts'
import type { TestListener, TestRequest } from '../tester.ts'
import type { CaseContext } from './case-context.ts'
import { type Finding, unrun } from '../report/finding.ts'
import { SourceUnreadable, judgeCase } from './judge-case.ts'

/** What came of all cases, in their order; `isReadable` is false when the source turned out to be none. */
export interface CasesRun {
  readonly results: readonly CaseResult[]
  readonly isReadable: boolean
}

/** One more case than cores is under way, so that a core which gets free has its next run at hand. */
const WAITING_CASES = 1
/** How many lines of progress a test writes at most. */
const PROGRESS_LINES = 10

/** Runs the cases side by side as cores are free. Each is told of as soon as it is done. */
export async function runCases(
  context: CaseContext,
  cases: readonly TestCase[],
  request: TestRequest,
  listener: TestListener,
  signal: AbortSignal,
): Promise<CasesRun> {
  const told = tellerOf(cases, request, listener)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const queue = cases.entries()
  const lane = async (): Promise<void> => {
    try {
      for (const [index, testCase] of queue) {
        if (either.aborted) return
        const finding = await judgeCase(context, testCase, either)
        if (either.aborted) return
        told.done(index, testCase, finding)
      }
    } catch (error) {
      if (either.aborted && (error instanceof NoPlace || error instanceof Cancelled)) return
      stop.abort()
      throw error
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: context.cores.count + WAITING_CASES }, lane))
  const failed = lanes.find((ended) => ended.status === 'rejected')
  if (failed?.reason instanceof SourceUnreadable) return { results: [], isReadable: false }
  if (failed !== undefined) throw failed.reason
  return { results: told.all(), isReadable: true }
}

/** Cases of which none can be run, for one and the same reason. */
export function refuseCases(
  cases: readonly TestCase[],
  request: TestRequest,
  listener: TestListener,
  { verdict, message }: { readonly verdict: Verdict; readonly message: string },
): readonly CaseResult[] {
  const told = tellerOf(cases, request, listener)
  for (const [index, testCase] of cases.entries()) told.done(index, testCase, unrun(verdict, message))
  return told.all()
}

interface Teller {
  done(index: number, testCase: TestCase, finding: Finding): void
  /** All results in order. Nothing is told of those that were not run: why they were not, only whoever stopped the test knows. */
  all(): readonly CaseResult[]
}

function tellerOf(cases: readonly TestCase[], { claim, attempt, spec }: TestRequest, listener: TestListener): Teller {
  const total = cases.length
  const keptBytes = streamBytes(total)
  const results = new Map<number, CaseResult>()
  const step = Math.max(1, Math.ceil(total / PROGRESS_LINES))
  let failed = 0
  const progress = (summary: string): void => {
    const meta = { phase: 'test', done: results.size, failed, total }
    listener.status({ stage: 'test', level: 'info', summary, progress: results.size / Math.max(1, total), meta })
  }
  const done = (index: number, testCase: TestCase, finding: Finding): void => {
    const result = caseResult(testCase, finding, keptBytes)
    results.set(index, result)
    if (isFailure(result)) failed += 1
    listener.caseDone(caseItem(result, { claim, attempt, index, total }))
    listener.terminal(caseLine(result, spec.limits, { index, total }))
    if (results.size % step === 0 || results.size === total) progress(`${results.size} of ${total} cases done, ${failed} failed`)
  }
  progress(`running ${total} ${total === 1 ? 'case' : 'cases'}`)
  return {
    done,
    all: () => cases.map((testCase, index) => results.get(index) ?? caseResult(testCase, unrun('CANCELLED', null), keptBytes)),
  }
}
