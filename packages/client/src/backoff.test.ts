import { expect, test } from 'vitest'
import { backoffMs } from './backoff.ts'

const WAITS = { minMs: 200, maxMs: 10_000 }
const waits = (random: number): number[] => [0, 1, 2, 3, 6, 60, 6_000].map((failures) => backoffMs(failures, WAITS, () => random))

test('waits double up to the longest, each cut by up to a half', () => {
  expect(waits(1)).toEqual([200, 400, 800, 1_600, 10_000, 10_000, 10_000])
  expect(waits(0)).toEqual([100, 200, 400, 800, 5_000, 5_000, 5_000])
})
