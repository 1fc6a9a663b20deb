import { type Written, selfTest, sourceFile, status } from '../script/conversation.ts'

const sieve = sourceFile(import.meta.dirname, 'sieve.cpp')

/** Right at the first attempt. Several answers are right, so a checker of the problem's own decides. */
export const conversation: Written = {
  model: 'script-goldbach',
  displayName: 'Two primes (script)',
  answers: [
    {
      thinks: [
        '**Reading the problem**\n\nAny pair will do, so the smallest first prime is as good as any. For n up to 10^6 it is always small.',
        '**Reading the given code**\n\n`isPrime` takes 1 for a prime, and the loop begins at 1. And `divisor * divisor < number` lets squares of primes through: 9 and 25 count as primes.',
      ],
      says: 'Two mistakes: 1 counts as a prime, and so do squares of primes. A sieve makes both impossible.',
      calls: [status('coding', 'A sieve up to 10^6, then the smallest prime whose partner is one too'), selfTest(sieve)],
      tokens: { input: 2_204, cached: 0, output: 771, reasoning: 384 },
    },
    {
      thinks: ['**All cases pass**\n\nThe checker takes all pairs.'],
      says: {
        main: sieve,
        solution_idea: 'Sieve the primes up to 10^6 once; for each n try primes from 2 on until n minus it is a prime.',
        seed_code_idea: 'Trial division for both numbers, from 1 on.',
        seed_code_bug_reason: 'It takes 1 for a prime, and stops the trial division before the square root.',
        user_feedback_md:
          '- Line 5: `divisor * divisor < number` must be `<=`, or `9`, `25` and `49` pass as primes.\n- Line 16: begin with 2: `1` is no prime.',
        seed_code_issue_type: 'minor_bug',
        seed_code_wrong_lines: [5, 16],
        seed_code_fix_diff:
          '--- a/main.cpp\n+++ b/main.cpp\n@@ -5 +5 @@\n-    for (int divisor = 2; divisor * divisor < number; ++divisor)\n+    for (int divisor = 2; divisor * divisor <= number; ++divisor)\n@@ -16 +16 @@\n-        for (int first = 1; first <= n; ++first) {\n+        for (int first = 2; first <= n - 2; ++first) {\n',
        assumptions: [],
        complexity: 'O(N log log N) for the sieve, then a few steps for each number',
      },
      tokens: { input: 3_188, cached: 2_176, output: 655, reasoning: 64 },
    },
  ],
}
