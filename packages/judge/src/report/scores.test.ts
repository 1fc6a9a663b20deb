import { expect, test } from 'vitest'
import { sum } from './scores.ts'

test('points add up as people add them', () => {
  expect(sum([0.1, 0.1, 0.1])).toBe(0.3)
  expect(sum([1e9, 0.25, 1 / 3])).toBe(1_000_000_000.583333)
})
