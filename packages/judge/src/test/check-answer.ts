import type { TestCase } from '@parley/protocol'
import type { Box, BoxFile, RunOutcome } from '@parley/sandbox'
import { type CheckerVerdict, readCheckerVerdict } from '../check/testlib.ts'
import { AUTHOR_LIMITS, STDERR_BYTES } from './case-limits.ts'
import { type AuthorProgram, type CaseContext, expectedPath, inputPath } from './case-context.ts'
import { sayingSo } from './verdict.ts'

const NOTHING = new Uint8Array()

/** Lets the author's checker decide: `checker input output answer`, in a box of its own. */
export async function checkAnswer(
  context: CaseContext,
  checker: AuthorProgram,
  testCase: TestCase,
  { box, answer, signal }: { readonly box: Box; readonly answer: Uint8Array; readonly signal: AbortSignal },
): Promise<{ readonly said: CheckerVerdict; readonly isBroken: boolean }> {
  const outcome = await box.run(
    {
      argv: [...checker.start.argv, 'input.txt', 'output.txt', 'answer.txt'],
      environment: checker.start.environment,
      readable: checker.start.readable,
      files: [
        ...checker.start.files,
        { name: 'input.txt', from: { path: inputPath(context, testCase) } },
        { name: 'output.txt', from: { bytes: answer } },
        answerFile(context, testCase),
      ],
      captureBytes: { stdout: STDERR_BYTES, stderr: STDERR_BYTES },
      limits: AUTHOR_LIMITS,
    },
    signal,
  )
  return { said: authorVerdict('checker', checker, outcome), isBroken: outcome.status === 'sandbox-error' }
}

/** What is expected, or an empty file: an author's program is always given three. */
export function answerFile(context: CaseContext, testCase: TestCase): BoxFile {
  const path = expectedPath(context, testCase)
  return { name: 'answer.txt', from: path === undefined ? { bytes: NOTHING } : { path } }
}

/** Reads how an author's program ended. One that crashed or went over a limit decided nothing. */
export function authorVerdict(
  what: 'checker' | 'interactor',
  { crashSigns }: AuthorProgram,
  outcome: RunOutcome,
): CheckerVerdict {
  const { status, exitCode, stderr, stdout } = outcome
  if (status !== 'ok' && status !== 'nonzero')
    return {
      verdict: 'SE',
      score: 0,
      // How it was killed says nothing, which bound it broke does.
      message: `the ${what} did not end by itself: ${outcome.message ?? (status === 'signal' ? outcome.signal : status)}`,
    }
  if (status === 'nonzero' && sayingSo(stderr.bytes, crashSigns))
    return { verdict: 'SE', score: 0, message: `the ${what} crashed: ${lastLine(stderr.bytes)}` }
  return readCheckerVerdict(exitCode, stderr.bytes.length > 0 ? stderr.bytes : stdout.bytes)
}

function lastLine(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8').trimEnd().split('\n').at(-1)?.slice(0, 200) ?? ''
}
