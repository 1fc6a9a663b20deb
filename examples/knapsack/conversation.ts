import { type Written, selfTest, sourceFile, status } from '../script/conversation.ts'

const first = sourceFile(import.meta.dirname, 'first.cpp')
const repaired = sourceFile(import.meta.dirname, 'repaired.cpp')

/** It trusts the idea of the given code, hands in what fails, and finds the right idea when it sees the report. */
export const conversation: Written = {
  model: 'script-knapsack',
  displayName: '0/1 knapsack (script)',
  answers: [
    {
      thinks: [
        '**Reading the problem**\n\nChoose items, each at most once, so that the weights fit into `W` and the values add up to as much as possible. n is at most 200 and W at most 10 000.',
        '**Reading the given code**\n\nIt sorts by value per weight and takes what fits. The comparator divides whole numbers: 5 / 3 and 3 / 2 are both 1, so the order is not what was meant.',
      ],
      calls: [status('analysis', 'The given code is greedy; its comparator divides whole numbers')],
      tokens: { input: 2_318, cached: 0, output: 402, reasoning: 320 },
    },
    {
      thinks: [
        '**Comparing without division**\n\nCross multiplication orders the items exactly. That should be all that is wrong.',
      ],
      says: 'The order of the items is lost to integer division. I compare crosswise and let the judge try it.',
      calls: [status('coding', 'Comparing value per weight without division'), selfTest(first)],
      tokens: { input: 2_762, cached: 2_304, output: 618, reasoning: 128 },
    },
    {
      thinks: [
        '**The self-test fails**\n\nCase 1: expected 6, printed 5. With capacity 4 it takes the item of weight 3, and then nothing fits any more. I do not see a mistake in the comparator; the report on all cases may tell more.',
      ],
      says: {
        main: first,
        solution_idea: 'Sort by value per weight, compared crosswise, and take what fits.',
        seed_code_idea: 'Greedy: take the item that is worth most per kilogram while it fits.',
        seed_code_bug_reason: 'The comparator divides whole numbers, so items of different worth count as equal.',
        user_feedback_md:
          'Your comparator loses the fraction: `5 / 3` and `3 / 2` are both `1`. Compare `a.value * b.weight > b.value * a.weight` instead.',
        seed_code_issue_type: 'minor_bug',
        seed_code_wrong_lines: [19],
        seed_code_fix_diff:
          '--- a/main.cpp\n+++ b/main.cpp\n@@ -18,3 +18,3 @@\n     sort(items.begin(), items.end(), [](const Item& a, const Item& b) {\n-        return a.value / a.weight > b.value / b.weight;\n+        return a.value * b.weight > b.value * a.weight;\n     });\n',
        assumptions: ['Taking the best ratio first leads to the best sum.'],
        complexity: 'O(n log n) time, O(n) memory',
      },
      tokens: { input: 3_655, cached: 2_688, output: 861, reasoning: 192 },
    },
    {
      thinks: [
        '**What the report says**\n\nCases 1, 4 and 5 are wrong, 2 and 3 are right: those where nothing fits and where everything does. So it is not the comparator. Whatever the order, greedy can block room for two items with one.',
        '**The right idea**\n\nEach item is taken or not: 0/1 knapsack. With W up to 10 000 and n up to 200 a table over capacities has 2 000 000 steps.',
      ],
      calls: [status('repair', 'Greedy itself is wrong: one item can block the room of two')],
      tokens: { input: 5_947, cached: 4_480, output: 473, reasoning: 384 },
    },
    {
      thinks: ['**Order of the loop**\n\nCapacities downwards, so that `best[c - weight]` does not hold this item yet.'],
      says: 'Greedy cannot work here. I fill a table of the best value for every capacity.',
      calls: [status('coding', 'Dynamic programming over capacities, from high to low'), selfTest(repaired)],
      tokens: { input: 6_478, cached: 5_888, output: 587, reasoning: 128 },
    },
    {
      thinks: ['**All cases pass**\n\n5 of 5. I write down what was wrong with the given code.'],
      says: {
        main: repaired,
        solution_idea:
          '`best[c]` is the most that the items so far are worth within capacity `c`. Each item updates it from high capacities to low ones, so that it is taken at most once. The answer is `best[W]`.',
        seed_code_idea: 'Greedy: take the item that is worth most per kilogram while it fits.',
        seed_code_bug_reason:
          'Items cannot be cut. One item with the best ratio can take the room of two that are worth more together, whatever the order of the rest.',
        user_feedback_md:
          'The idea is what is wrong, not a line of it: **greedy by ratio is right only if items can be cut**.\n\n- `W = 4`, items `3 5`, `2 3`, `2 3`: you take the first and get 5; the other two are worth 6.\n- `W = 11`, items of weight 5 and 6 worth 18 and 22 make 40; you begin with the one of weight 7 and get 35.\n\nKeep for every capacity the best value so far, and let each item improve it, from the highest capacity down.',
        seed_code_issue_type: 'wrong_approach',
        seed_code_wrong_lines: [18, 19, 20, 23, 24, 25, 26, 27],
        seed_code_fix_diff: '',
        assumptions: ['All weights are at least 1.'],
        complexity: 'O(n · W) time, O(W) memory',
      },
      tokens: { input: 7_310, cached: 6_400, output: 902, reasoning: 64 },
    },
  ],
}
