import type { CompareMode, TestCase } from '@parley/protocol'
import type { RunLimits } from '@parley/sandbox'
import type { Core } from '../box/core.ts'
import type { ClockedRun } from '../box/starved.ts'
import type { CheckerVerdict } from '../check/testlib.ts'
import { answerFile, authorVerdict, checkAnswer } from './check-answer.ts'
import { AUTHOR_LIMITS, STDERR_BYTES, runLimits } from './case-limits.ts'
import { type CaseContext, inputPath } from './case-context.ts'
import { endVerdict } from './verdict.ts'

/** One run of a case: how the program ended, and what the author's program said if it was asked. */
export interface CaseRun extends ClockedRun {
  readonly said: CheckerVerdict | null
  /** The author's program had decided before the program ended, so how that ended is no fault of its own. */
  readonly decidedFirst: boolean
  /** The sandbox failed, for the program or for the author's. */
  readonly isBroken: boolean
}

export interface RunPlace {
  readonly core: Core
  readonly company: 'beside' | 'alone'
  readonly signal: AbortSignal
}

/** Runs a case on a core that is held. */
export async function runOnce(context: CaseContext, testCase: TestCase, mode: CompareMode, place: RunPlace): Promise<CaseRun> {
  const run = mode === 'interactive' ? await interactOnce(context, testCase, place) : await programOnce(context, testCase, place)
  const checked = mode === 'checker' && !run.isBroken ? await checkOnce(context, testCase, run, place) : run
  // What broke may stay broken; the next run gets boxes that never saw this one.
  if (checked.isBroken) await place.core.renew()
  return checked
}

async function checkOnce(context: CaseContext, testCase: TestCase, run: CaseRun, { core, signal }: RunPlace): Promise<CaseRun> {
  const { checker, limits, memorySigns } = context
  if (checker === null || signal.aborted || endVerdict(run, limits, memorySigns) !== undefined) return run
  const box = await core.box('author')
  const { said, isBroken } = await checkAnswer(context, checker, testCase, { box, answer: run.outcome.stdout.bytes, signal })
  return { ...run, said, isBroken }
}

async function programOnce(context: CaseContext, testCase: TestCase, { core, company, signal }: RunPlace): Promise<CaseRun> {
  const { start, limits } = context
  const bounds = runLimits(limits, company)
  const box = await core.box('program')
  const outcome = await box.run(
    {
      argv: start.argv,
      environment: start.environment,
      files: start.files,
      readable: start.readable,
      stdin: { kind: 'file', path: inputPath(context, testCase) },
      captureBytes: { stdout: limits.outputBytes, stderr: STDERR_BYTES },
      limits: bounds,
    },
    signal,
  )
  const clocked = { outcome, clockMs: bounds.wallMs, partnerStarvedMs: 0 }
  return { ...clocked, said: null, decidedFirst: false, isBroken: outcome.status === 'sandbox-error' }
}

/** `interactor input output answer`, its streams joined with the program's. */
async function interactOnce(context: CaseContext, testCase: TestCase, { core, company, signal }: RunPlace): Promise<CaseRun> {
  const { start, limits, interactor } = context
  if (interactor === null) throw new TypeError('an interactive case needs an interactor')
  const bounds = runLimits(limits, company)
  const [programBox, interactorBox] = await Promise.all([core.box('program'), core.box('author')])
  const both = await context.sandbox.interact(
    programBox,
    interactorBox,
    {
      program: { ...start, limits: bounds },
      interactor: {
        ...interactor.start,
        argv: [...interactor.start.argv, 'input.txt', 'output.txt', 'answer.txt'],
        files: [
          ...interactor.start.files,
          { name: 'input.txt', from: { path: inputPath(context, testCase) } },
          answerFile(context, testCase),
        ],
        // It outlives the program, so that of two that wait for each other the program is the one that is found idle.
        limits: outliving(bounds),
      },
      captureBytes: STDERR_BYTES,
    },
    signal,
  )
  // A program whose interactor is starved waits for it, and is no more idle than that.
  const clocked = { clockMs: bounds.wallMs, partnerStarvedMs: both.interactor.starvedMs ?? 0 }
  if (both.interactor.status === 'sandbox-error')
    return { ...clocked, outcome: both.interactor, said: null, decidedFirst: false, isBroken: true }
  const said = authorVerdict('interactor', interactor, both.interactor)
  const isBroken = both.program.status === 'sandbox-error'
  return { ...clocked, outcome: both.program, said, decidedFirst: both.endedFirst === 'interactor' && !isBroken, isBroken }
}

const AFTER_PROGRAM_MS = 5_000

function outliving({ starvedWallMs }: ReturnType<typeof runLimits>): RunLimits {
  const wallMs = starvedWallMs + AFTER_PROGRAM_MS
  return { ...AUTHOR_LIMITS, wallMs, starvedWallMs: Math.max(wallMs, AUTHOR_LIMITS.starvedWallMs) }
}
