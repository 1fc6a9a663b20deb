import { expect, test } from 'vitest'
import { titleOf } from './title.ts'

test.each([
  ['Given', '# Heading', 'Given'],
  ['  Given\n\ttwice ', '', 'Given twice'],
  ['   ', '# Heading #', 'Heading'],
  [undefined, 'First line\n\n## Knapsack\n', 'Knapsack'],
  [undefined, '\n\n  First   line \r\nsecond', 'First line'],
  [undefined, '#not a heading', '#not a heading'],
  [undefined, '', 'untitled'],
  [undefined, ' \n\t\n', 'untitled'],
  [undefined, '\u0001\u0002', 'untitled'],
])('%j and %j give %j', (given, statement, title) => {
  expect(titleOf(given, statement)).toBe(title)
})

test('a long one is cut between characters', () => {
  const title = titleOf(undefined, '😀'.repeat(100))
  expect(Array.from(title)).toHaveLength(80)
  expect(title).toBe(`${'😀'.repeat(79)}…`)
})
