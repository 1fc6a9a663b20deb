import { type CompareMode, JOB_LIMITS, type TestCase } from '@parley/protocol'
import type { RunOutcome, RunOutput } from '@parley/sandbox'
import type { HeldPlace } from '../box/shared-places.ts'
import type { Core } from '../box/core.ts'
import { wasStarved } from '../box/starved.ts'
import { compareAnswer } from '../check/compare-answer.ts'
import type { ComparisonPlace } from '../check/comparers.ts'
import { type ExpectedAnswer, ExpectedUnreadable } from '../check/comparison.ts'
import { readExpected } from '../check/read-expected.ts'
import { type CaseContext, expectedPath } from './case-context.ts'
import { type CaseLimits, isDoubtful } from './case-limits.ts'
import { type Finding, programDiff, unrun } from '../report/finding.ts'
import { type CaseRun, type RunPlace, runOnce } from './run-once.ts'
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
  const { spec, cores, asker } = context
  const mode = testCase.compare_mode ?? spec.tests.compare.mode
  const refusal = refuse(context, testCase, mode)
  if (refusal !== undefined) return refusal
  let reruns = 0
  let judged = await hold(cores.one(asker, signal), async (held) => {
    const place = { held, company: 'beside', signal } as const
    const first = await judgeOnce(context, testCase, mode, { ...place, idleBefore: false })
    if (first.again !== 'beside' || signal.aborted) return first
    reruns++
    return await judgeOnce(context, testCase, mode, { ...place, idleBefore: true })
  })
  if (judged.again === 'alone' && !signal.aborted) {
    reruns++
    judged = await hold(cores.all(asker, signal), (held) =>
      judgeOnce(context, testCase, mode, { held, company: 'alone', signal, idleBefore: true }),
    )
  }
  const { outcome, decision } = judged
  if (signal.aborted || decision === undefined) return { ...unrun('CANCELLED', null), outcome, reruns }
  if (!(await context.isReadable(outcome))) throw new SourceUnreadable()
  return { ...decision, outcome, reruns }
}

interface CasePlace {
  readonly held: HeldPlace<Core>
  readonly company: RunPlace['company']
  readonly signal: AbortSignal
  /** An earlier run of this case seemed idle, too. */
  readonly idleBefore: boolean
}

/** A run as far as it is remembered without its core: no decision when it says too little, or when nobody wants to know any more. */
interface JudgedRun {
  readonly outcome: RunOutcome
  readonly decision: Decision | undefined
  /** Where it is to be run again, since this run says too little. */
  readonly again?: RunPlace['company']
}

/**
 * Runs a case and looks at its answer. The core is kept until the answer is compared: so no more whole answers are in memory than there
 * are cores, however many wait to be compared, and whoever has much compared has less of the cores.
 */
async function judgeOnce(
  context: CaseContext,
  testCase: TestCase,
  mode: CompareMode,
  { held, company, signal, idleBefore }: CasePlace,
): Promise<JudgedRun> {
  // A short one is read while the program runs.
  const expected = lookAtExpected(context, testCase, mode)
  const run = await runOnce(context, testCase, mode, { core: held.place, company, signal })
  const outcome = asReported(run.outcome)
  if (signal.aborted) return { outcome, decision: undefined }
  if (company === 'beside' && isUnsure(run, context.limits)) return { outcome, decision: undefined, again: 'alone' }
  if (isIdle(run)) {
    if (!idleBefore && !context.idleness.isSure) return { outcome, decision: undefined, again: 'beside' }
    context.idleness.isSure = true
  }
  const { whileWaiting } = held
  const place = { owner: context.asker.owner, signal, whileWaiting }
  return { outcome, decision: await decide({ context, testCase, mode, run, expected: await expected, place }) }
}

/** Without what no report shows. A copy: a part of the bytes would keep all of them in memory. */
function asReported(outcome: RunOutcome): RunOutcome {
  const startOf = ({ bytes, totalBytes }: RunOutput): RunOutput => ({
    bytes: new Uint8Array(bytes.subarray(0, JOB_LIMITS.reportStreamBytes)),
    totalBytes,
  })
  return { ...outcome, stdout: startOf(outcome.stdout), stderr: startOf(outcome.stderr) }
}

function isUnsure(run: CaseRun, limits: CaseLimits): boolean {
  return run.isBroken || wasStarved(run) || (!run.decidedFirst && isDoubtful(run.outcome, limits))
}

/** The clock ended it, and it had hardly run. */
function isIdle(run: CaseRun): boolean {
  return run.outcome.status === 'wall-limit' && !run.decidedFirst && !wasStarved(run)
}

type Decision = Pick<Finding, 'verdict' | 'score' | 'message' | 'diff'>

interface AnsweredCase {
  readonly context: CaseContext
  readonly testCase: TestCase
  readonly mode: CompareMode
  readonly run: CaseRun
  readonly expected: ExpectedAnswer | 'none' | 'unreadable'
  readonly place: ComparisonPlace
}

async function decide({ context, testCase, mode, run, expected, place }: AnsweredCase): Promise<Decision> {
  const { said, outcome } = run
  const ended = isForgiven(run) ? undefined : endVerdict(run, context.limits, context.memorySigns)
  if (ended !== undefined) return { ...ended, score: 0, diff: null }
  if (said !== null) {
    const { verdict, score, message } = said
    return { verdict, score, message, diff: programDiff(mode, verdict === 'AC', message) }
  }
  if (expected === 'none') return { verdict: 'RUN', score: 0, message: null, diff: null }
  if (expected === 'unreadable') return unreadable(testCase)
  const { tolerance } = context.spec.tests.compare
  try {
    const question = { mode, tolerance, expected, actual: outcome.stdout.bytes }
    const { verdict, diff } = await compareAnswer(question, context.comparers, place)
    return { verdict, score: verdict === 'AC' ? 1 : 0, message: verdict === 'AC' ? null : diff.message, diff }
  } catch (error) {
    if (error instanceof ExpectedUnreadable) return unreadable(testCase)
    throw error
  }
}

function unreadable({ expected_rel }: TestCase): Decision {
  return { verdict: 'SE', score: 0, message: `the judge could not read ${expected_rel}`, diff: null }
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

async function lookAtExpected(
  context: CaseContext,
  testCase: TestCase,
  mode: CompareMode,
): Promise<ExpectedAnswer | 'none' | 'unreadable'> {
  const path = expectedPath(context, testCase)
  if (path === undefined || mode === 'checker' || mode === 'interactive') return 'none'
  return readExpected(path).catch(() => 'unreadable' as const)
}

async function hold<Result>(asked: Promise<HeldPlace<Core>>, work: (held: HeldPlace<Core>) => Promise<Result>): Promise<Result> {
  const held = await asked
  try {
    return await work(held)
  } finally {
    held.release()
  }
}
