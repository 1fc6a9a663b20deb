import type { JobSpec, TestCase } from '@parley/protocol'

/** Whether there is something to judge an answer by: an expected output, or a program of the author. */
export function isJudgeable({ expected_rel, compare_mode }: TestCase, { tests }: Pick<JobSpec, 'tests'>): boolean {
  const mode = compare_mode ?? tests.compare.mode
  return expected_rel !== null || mode === 'checker' || mode === 'interactive'
}
