import { type Written, selfTest, sourceFile, status } from '../script/conversation.ts'

const remembered = sourceFile(import.meta.dirname, 'remembered.py')
const loop = sourceFile(import.meta.dirname, 'loop.py')

/** The first idea fails its own self-test, and only the second one is handed in. */
export const conversation: Written = {
  model: 'script-stairs',
  displayName: 'Ways up the stairs (script)',
  answers: [
    {
      thinks: [
        '**Reading the given code**\n\nThe recursion is right, but every call makes three more: for 40 stairs that is already hopeless. Remembering results makes it linear.',
      ],
      says: 'The formula is right and far too slow. I remember what has been counted already.',
      calls: [status('coding', 'The same recursion, with remembered results'), selfTest(remembered)],
      tokens: { input: 2_087, cached: 0, output: 498, reasoning: 192 },
    },
    {
      thinks: [
        '**The self-test fails**\n\nA million calls inside each other are too deep for Python. Only the last three numbers are ever needed, so a loop will do.',
      ],
      calls: [status('repair', 'Too deep for recursion: a loop over the last three numbers'), selfTest(loop)],
      tokens: { input: 2_958, cached: 2_048, output: 431, reasoning: 128 },
    },
    {
      thinks: ['**All cases pass**\n\nAlso a million stairs, well within the time.'],
      says: {
        main: loop,
        solution_idea: 'The ways to a stair are the sum of those to the three before it; three variables and a loop suffice.',
        seed_code_idea: 'Plain recursion over the last stride.',
        seed_code_bug_reason: 'Every value is counted again and again: the time grows exponentially with the number of stairs.',
        user_feedback_md:
          'Your formula is right. What is missing is to count every stair once: go from the bottom up and keep the last three numbers.',
        seed_code_issue_type: 'wrong_approach',
        seed_code_wrong_lines: [9],
        seed_code_fix_diff: '',
        assumptions: [],
        complexity: 'O(n) time, O(1) memory',
      },
      tokens: { input: 3_702, cached: 2_944, output: 520, reasoning: 64 },
    },
  ],
}
