import type { JobSpec, TestCase } from '@parley/protocol'
import type { RunOutcome, Sandbox } from '@parley/sandbox'
import { join } from 'node:path'
import type { PlaceSeeker } from '../box/shared-places.ts'
import type { Cores } from '../box/cores.ts'
import type { Comparers } from '../check/comparers.ts'
import type { ProgramStart } from '../compile/program.ts'
import type { CaseLimits } from './case-limits.ts'

/** An author's program that decides: how it is started, and the words by which it admits to have crashed. */
export interface AuthorProgram {
  readonly start: ProgramStart
  readonly crashSigns: readonly string[]
}

/**
 * Whether a program of this test is known to be idle. A machine that stands still, or a disk that does not answer, looks the same from
 * within a box and no kernel counts it: the first time a case is run once more before it is said. After that nothing hangs on it.
 */
export interface Idleness {
  isSure: boolean
}

/** All that the cases of one test share. */
export interface CaseContext {
  readonly sandbox: Sandbox
  readonly cores: Cores
  readonly comparers: Comparers
  readonly asker: PlaceSeeker
  readonly spec: JobSpec
  readonly inputFolder: string
  readonly start: ProgramStart
  readonly limits: CaseLimits
  readonly idleness: Idleness
  readonly memorySigns: readonly string[]
  readonly checker: AuthorProgram | null
  readonly interactor: AuthorProgram | null
  /** False when a failed run turns out to be of a source that cannot be read at all. */
  isReadable(outcome: RunOutcome): Promise<boolean>
}

export const inputPath = ({ inputFolder }: CaseContext, { input_rel }: TestCase): string => join(inputFolder, input_rel)

export const expectedPath = ({ inputFolder }: CaseContext, { expected_rel }: TestCase): string | undefined =>
  expected_rel === null ? undefined : join(inputFolder, expected_rel)
