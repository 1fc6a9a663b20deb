import type { CompareMode, TestCase } from '@parley/protocol'
import { readFile } from 'node:fs/promises'
import type { Slot } from '../box/slot.ts'
import type { Lease } from '../box/slots.ts'
import { wasStarved } from '../box/starved.ts'
import { compareAnswer } from '../check/compare-answer.ts'
import { type CaseContext, expectedPath } from './case-context.ts'
import { type CaseLimits, isDoubtful } from './case-limits.ts'
import { type Finding, programDiff, unrun } from './finding.ts'
import { type CaseRun, runOnce } from './run-once.ts'
import { endVerdict } from './verdict.ts'

/** The source cannot be read at all, which shows in the first run of a language that is not compiled. */
export class SourceUnreadable extends Error {
  readonly code = 'source_unreadable'
  constructor() {
    super('the source cannot be read')
    this.name = 'SourceUnreadable'
  }
}

/** Runs one case and says what became of it; again and alone if the first run says too little. */
export async function judgeCase(context: CaseContext, testCase: TestCase, signal: AbortSignal): Promise<Finding> {
  const { spec, slots, asker } = context
  const mode = testCase.compare_mode ?? spec.tests.compare.mode
  const refusal = refuse(context, testCase, mode)
  if (refusal !== undefined) return refusal
  let expected: Promise<Expected> | undefined
  let run = await hold(slots.one(asker, signal), (slot) => {
    // It is read while the program runs, and not before: those of cases that wait for a core are not in memory.
    expected = readExpected(context, testCase, mode)
    return runOnce(context, testCase, mode, { slot, company: 'beside', signal })
  })
  let reruns = 0
  if (isUnsure(run, context.limits) && !signal.aborted) {
    reruns = 1
    run = await hold(slots.all(asker, signal), (slot) => runOnce(context, testCase, mode, { slot, company: 'alone', signal }))
  }
  if (signal.aborted) return { ...unrun('CANCELLED', null), outcome: run.outcome, reruns }
  if (!(await context.isReadable(run.outcome))) throw new SourceUnreadable()
  return { ...(await decide(context, testCase, mode, run, (await expected) ?? { kind: 'none' })), outcome: run.outcome, reruns }
}

function isUnsure(run: CaseRun, limits: CaseLimits): boolean {
  return run.isBroken || wasStarved(run) || (!run.decidedFirst && isDoubtful(run.outcome, limits))
}

type Decision = Pick<Finding, 'verdict' | 'score' | 'message' | 'diff'>

async function decide(
  context: CaseContext,
  testCase: TestCase,
  mode: CompareMode,
  run: CaseRun,
  expected: Expected,
): Promise<Decision> {
  const { said, outcome } = run
  const ended = isForgiven(run) ? undefined : endVerdict(run, context.limits, context.memorySigns)
  if (ended !== undefined) return { ...ended, score: 0, diff: null }
  if (said !== null) {
    const { verdict, score, message } = said
    return { verdict, score, message, diff: programDiff(mode, verdict === 'AC', message) }
  }
  if (expected.kind === 'none') return { verdict: 'RUN', score: 0, message: null, diff: null }
  if (expected.kind === 'unreadable') return { verdict: 'SE', score: 0, message: expected.message, diff: null }
  const { tolerance } = context.spec.tests.compare
  const { verdict, diff } = await compareAnswer({ mode, tolerance, expected: expected.bytes, actual: outcome.stdout.bytes })
  return { verdict, score: verdict === 'AC' ? 1 : 0, message: verdict === 'AC' ? null : diff.message, diff }
}

/** An interactor that ends breaks the program's pipes: only what the program did by itself still counts, and only if it was right. */
function isForgiven({ said, decidedFirst, outcome: { status } }: CaseRun): boolean {
  if (said === null || !decidedFirst) return false
  return said.verdict !== 'AC' || status === 'ok' || status === 'nonzero' || status === 'signal'
}

/** Cases that are not run at all. With a program that decides, a case without an expected output is judged like any other. */
function refuse({ spec, checker, interactor }: CaseContext, testCase: TestCase, mode: CompareMode): Finding | undefined {
  if (mode === 'checker') return checker === null ? unrun('SE', 'the job has no checker') : undefined
  if (mode === 'interactive') return interactor === null ? unrun('SE', 'the job has no interactor') : undefined
  return testCase.expected_rel === null && !spec.tests.run_if_no_expected ? unrun('SKIP', 'nothing to compare with') : undefined
}

type Expected =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'unreadable'; readonly message: string }

async function readExpected(context: CaseContext, testCase: TestCase, mode: CompareMode): Promise<Expected> {
  const path = expectedPath(context, testCase)
  if (path === undefined || mode === 'checker' || mode === 'interactive') return { kind: 'none' }
  try {
    return { kind: 'bytes', bytes: await readFile(path) }
  } catch {
    return { kind: 'unreadable', message: `the judge could not read ${testCase.expected_rel}` }
  }
}

async function hold<Result>(lease: Promise<Lease>, work: (slot: Slot) => Promise<Result>): Promise<Result> {
  const held = await lease
  try {
    return await work(held.slot)
  } finally {
    held.release()
  }
}
