import type { CompareMode, TestCase } from '@parley/protocol'
import type { RunOutcome } from '@parley/sandbox'
import type { Slot } from '../box/slot.ts'
import type { CheckerVerdict } from '../check/testlib.ts'
import { answerFile, authorVerdict, checkAnswer } from './check-answer.ts'
import { AUTHOR_LIMITS, STDERR_BYTES, runLimits } from './case-limits.ts'
import { type CaseContext, inputPath } from './case-context.ts'
import { endVerdict } from './verdict.ts'

/** One run of a case: how the program ended, and what the author's program said if it was asked. */
export interface CaseRun {
  readonly outcome: RunOutcome
  readonly said: CheckerVerdict | null
  /** The author's program had decided before the program ended, so how that ended is no fault of its own. */
  readonly decidedFirst: boolean
  /** The sandbox failed, for the program or for the author's. */
  readonly isBroken: boolean
}

export interface RunPlace {
  readonly slot: Slot
  readonly company: 'beside' | 'alone'
  readonly signal: AbortSignal
}

/** Runs a case on a core that is held. */
export async function runOnce(context: CaseContext, testCase: TestCase, mode: CompareMode, place: RunPlace): Promise<CaseRun> {
  const run = mode === 'interactive' ? await interactOnce(context, testCase, place) : await programOnce(context, testCase, place)
  const checked = mode === 'checker' && !run.isBroken ? await checkOnce(context, testCase, run, place) : run
  // What broke may stay broken; the next run gets boxes that never saw this one.
  if (checked.isBroken) await place.slot.renew()
  return checked
}

async function checkOnce(context: CaseContext, testCase: TestCase, run: CaseRun, { slot, signal }: RunPlace): Promise<CaseRun> {
  const { checker, limits, memorySigns } = context
  if (checker === null || signal.aborted || endVerdict(run.outcome, limits, memorySigns) !== undefined) return run
  const box = await slot.box('author')
  const { said, isBroken } = await checkAnswer(context, checker, testCase, { box, answer: run.outcome.stdout.bytes, signal })
  return { ...run, said, isBroken }
}

async function programOnce(context: CaseContext, testCase: TestCase, { slot, company, signal }: RunPlace): Promise<CaseRun> {
  const { start, limits } = context
  const box = await slot.box('program')
  const outcome = await box.run(
    {
      argv: start.argv,
      environment: start.environment,
      files: start.files,
      readable: start.readable,
      stdin: { kind: 'file', path: inputPath(context, testCase) },
      captureBytes: { stdout: limits.outputBytes, stderr: STDERR_BYTES },
      limits: runLimits(limits, company),
    },
    signal,
  )
  return { outcome, said: null, decidedFirst: false, isBroken: outcome.status === 'sandbox-error' }
}

/** `interactor input output answer`, its streams joined with the program's. */
async function interactOnce(context: CaseContext, testCase: TestCase, { slot, company, signal }: RunPlace): Promise<CaseRun> {
  const { start, limits, interactor } = context
  if (interactor === null) throw new TypeError('an interactive case needs an interactor')
  const bounds = runLimits(limits, company)
  const [programBox, interactorBox] = await Promise.all([slot.box('program'), slot.box('author')])
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
        limits: { ...AUTHOR_LIMITS, wallMs: bounds.wallMs + AFTER_PROGRAM_MS },
      },
      captureBytes: STDERR_BYTES,
    },
    signal,
  )
  if (both.interactor.status === 'sandbox-error')
    return { outcome: both.interactor, said: null, decidedFirst: false, isBroken: true }
  const said = authorVerdict('interactor', interactor, both.interactor)
  const isBroken = both.program.status === 'sandbox-error'
  return { outcome: both.program, said, decidedFirst: both.endedFirst === 'interactor' && !isBroken, isBroken }
}

const AFTER_PROGRAM_MS = 5_000
