import type { CaseResult, GroupScore, TestCase, TestGroup } from '@parley/protocol'
import { isJudged } from './judged.ts'

/** Points by group. A group with points of its own earns them only when all of its cases pass; else each case counts. */
export function groupScores(
  groups: readonly TestGroup[],
  cases: readonly TestCase[],
  results: readonly CaseResult[],
): GroupScore[] {
  const byGroup = Map.groupBy(results, ({ group }) => group)
  const casesByGroup = Map.groupBy(cases, ({ group }) => group)
  return groups.map((group) => {
    const own = byGroup.get(group.name) ?? []
    const passed = own.filter(({ verdict }) => verdict === 'AC').length
    return {
      name: group.name,
      points: group.points ?? sum((casesByGroup.get(group.name) ?? []).map(({ points }) => points)),
      score: group.points === null ? sum(own.map(({ score }) => score)) : passed === group.cases ? group.points : 0,
      passed,
      judged: own.filter(isJudged).length,
      total: group.cases,
    }
  })
}

/** To the millionth: three times 0.1 is 0.3 to everybody but a double. */
export const sum = (numbers: readonly number[]): number =>
  Math.round(numbers.reduce((total, number) => total + number, 0) * PRECISION) / PRECISION
const PRECISION = 1e6
