import { createHash } from 'node:crypto'
import { type JobSpec, messageOf, type Report, STATUS_LIMITS, type STATUS_TOOLS } from '@parley/protocol'
import type * as z from 'zod'
import type { TestListener, Tester } from '../tester.ts'
import { selfTestAnswer } from './self-test-answer.ts'

export type SelfTestAnswer = z.infer<(typeof STATUS_TOOLS)['judge.self_test']['output']>

/** What a self-test is run with: the same as the job's own test. */
export interface SelfTestParts {
  readonly tester: Pick<Tester, 'test'>
  readonly spec: JobSpec
  readonly inputFolder: string
  readonly judgeName: string
  readonly claim: number
  readonly attempt: number
  /** The job's own: nothing is tested after it fired. */
  readonly signal: AbortSignal
  /** Settles when what was found out is kept; the engine hears it only then. */
  readonly tested?: (codeHash: string, ok: boolean) => Promise<void>
}

/** Self-tests of one job that wait for the one under way; more are refused. */
const WAITING_MAX = 16

/** The same program: white space at its end makes no other. */
export const codeHash = (code: string): string => createHash('sha256').update(code.trimEnd()).digest('hex')

/** Bounds what somebody asked for; left out or not a number: the default. */
export function timeoutSeconds(asked: number | undefined): number {
  const { default: usual, min, max } = STATUS_LIMITS.selfTestSeconds
  return asked === undefined || Number.isNaN(asked) ? usual : Math.min(max, Math.max(min, asked))
}

/** Runs the job's own test for the engine that works on it, one at a time. Nothing of it goes to the job's cases. */
export class SelfTests {
  readonly #parts: SelfTestParts
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(parts: SelfTestParts) {
    this.#parts = parts
  }

  /** Answers whatever the program does. `signal` is the caller's own, who may go before it is done. */
  async run(code: string, seconds: number, signal: AbortSignal): Promise<SelfTestAnswer> {
    if (this.#waiting >= WAITING_MAX) return failure('error', `${WAITING_MAX} self-tests wait already`)
    this.#waiting += 1
    const before = this.#last
    const mine = Promise.withResolvers<void>()
    this.#last = mine.promise
    try {
      await before
      return await this.#test(code, seconds, signal)
    } finally {
      this.#waiting -= 1
      mine.resolve()
    }
  }

  async #test(code: string, seconds: number, signal: AbortSignal): Promise<SelfTestAnswer> {
    const { tester, spec, inputFolder, judgeName, claim, attempt } = this.#parts
    const late = new AbortController()
    const stop = AbortSignal.any([this.#parts.signal, signal, late.signal])
    if (stop.aborted) return failure('cancelled', 'the job or the call was ended')
    const timer = setTimeout(() => late.abort(), seconds * 1_000)
    let report: Report
    try {
      report = await tester.test({ spec, code, inputFolder, attempt, claim, judgeName }, SILENT, stop)
    } catch (error) {
      return failure('error', `the judge could not test it: ${messageOf(error)}`)
    } finally {
      clearTimeout(timer)
    }
    if (report.status === 'cancelled')
      return late.signal.aborted && !this.#parts.signal.aborted
        ? failure(
            'timeout',
            `it was not done within ${seconds} s; a larger timeout_seconds (up to 600) may help, or a faster program`,
          )
        : failure('cancelled', 'the job or the call was ended')
    const answer = await selfTestAnswer(report, inputFolder)
    await this.#parts.tested?.(codeHash(code), answer.ok)
    return answer
  }
}

const SILENT: TestListener = { terminal: () => {}, status: () => {}, caseDone: () => {} }

const failure = (status: string, error: string): SelfTestAnswer => ({ ok: false, status, error })
