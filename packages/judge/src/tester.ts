import type { AgentStage, CaseItem, JobSpec, Language, Report } from '@parley/protocol'
import type { WorkClock } from './box/work-clock.ts'

/** A solution to be tested, with the job's inputs unpacked on this machine. */
export interface TestRequest {
  readonly spec: JobSpec
  readonly code: string
  /** Holds `tests/…` as the job's input list names them. Only the judge writes there. */
  readonly inputFolder: string
  readonly attempt: number
  readonly claim: number
  readonly judgeName: string
  /** Runs while the cases are worked on. It stands while all of them wait for the tests of others, and while a compiler is at work. */
  readonly clock?: WorkClock
}

/** One line for the job's timeline; the worker adds time, job, attempt and sequence. */
export interface StatusLine {
  readonly stage: AgentStage
  readonly level: 'info' | 'warn' | 'error'
  readonly summary: string
  readonly progress?: number
  readonly meta?: Readonly<Record<string, unknown>>
  /** Of a line that carries a piece of what is being written: `agent_message_delta` and the like. */
  readonly kind?: string
  readonly delta?: string
}

/** Where a job speaks to whoever watches it. Calls return at once. */
export interface JobVoice {
  terminal(text: string): void
  /** Answers the line's number, which no other line of the job has. */
  status(line: StatusLine): string
}

/** What is told while a test is under way. Calls return at once; whoever listens keeps the order. */
export interface TestListener {
  terminal(text: string): void
  status(line: StatusLine): void
  caseDone(item: CaseItem): void
}

export interface LanguageFacts {
  readonly language: Language
  /** The first line of what the compiler or interpreter says about itself. */
  readonly version: string
}

/** Compiles and runs solutions, several at once; the cores are shared among all that run. */
export interface Tester {
  readonly languages: readonly LanguageFacts[]
  /**
   * Answers a report whatever the program does. `status` is `cancelled` when the signal fired; of that nothing is told to
   * the listener, since only whoever stopped the test knows why. Our own failure is a
   * report with `SE` and an error, never an exception, unless the machine itself is broken (no box can be had).
   */
  test(request: TestRequest, listener: TestListener, signal: AbortSignal): Promise<Report>
  close(): Promise<void>
}
