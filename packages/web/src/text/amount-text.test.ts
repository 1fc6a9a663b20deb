import { expect, test } from 'vitest'
import { costText, countText, memoryText } from './amount-text.ts'
import { agoText, durationText } from './time-text.ts'

test('a price that is not known is not nothing', () => {
  expect([costText(null, 0), costText(0, 0), costText(49_534, 0), costText(1_500_000, 2)]).toEqual([
    'unpriced',
    '$0.00',
    '$0.049534',
    '$1.50 and 2 unpriced',
  ])
})

test('amounts and times are short', () => {
  expect([countText(1_234_567), countText(12), memoryText(512), memoryText(3_200)]).toEqual([
    '1\u202F234\u202F567',
    '12',
    '512 KiB',
    '3.1 MiB',
  ])
  expect([0, 59_999, 60_000, 7_300_000, 172_800_000, -5].map((ms) => agoText(0, ms))).toEqual([
    'just now',
    'just now',
    '1 minute ago',
    '2 hours ago',
    '2 days ago',
    'just now',
  ])
  expect([3.4, 1_500, 61_000, 3_700_000].map(durationText)).toEqual(['3 ms', '1.5 s', '1 min 1 s', '1 h 1 min'])
})
