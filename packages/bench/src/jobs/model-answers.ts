import type { Answer, Piece } from '@parley/agent/testing/model-server'

const sum = (body: string): string =>
  `#include <stdio.h>\nint main(void) { long a, b; if (scanf("%ld %ld", &a, &b) != 2) return 9; printf("%ld\\n", ${body}); return 0; }\n`
const WRONG = sum('a - b - 1')
const RIGHT = sum('a + b')

const solution = (main: string): Piece => ({
  text: JSON.stringify({
    main,
    solution_idea: 'add the two numbers',
    seed_code_idea: '',
    seed_code_bug_reason: '',
    user_feedback_md: 'It was not there yet.',
    seed_code_issue_type: 'no_seed_code',
    seed_code_wrong_lines: [],
    seed_code_fix_diff: '',
    assumptions: [],
    complexity: 'O(1)',
  }),
})
const selfTest = (source: string): Piece => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })

/** Slow enough that a kill hits the middle of an answer. */
const manner = { pauseMs: 25, deltaCharacters: 24 }

/** One round that fails and a repair that holds. */
const PIECES: readonly (readonly Piece[])[] = [
  [
    { reasoning: 'Two numbers, one sum.', encrypted: 'e1' },
    { call: 'realmoi-status_status_update', arguments: { stage: 'analysis', summary: 'reading the statement' } },
  ],
  [{ text: 'I try this first.' }, selfTest(WRONG)],
  [solution(WRONG)],
  [{ reasoning: 'It must be a sum.', encrypted: 'e2' }, selfTest(RIGHT)],
  [solution(RIGHT)],
]

/** Tokens that tell the answers apart. */
export const TOKENS = PIECES.map((_, index) => ({ input: 1_000 + 100 * index, output: 50 + index, cached: 500 }))
export const ANSWERS: readonly Answer[] = PIECES.map((pieces, index) => ({ pieces, manner, usage: TOKENS[index] ?? null }))
