import { expect, test } from 'vitest'
import { countText } from './amount-text.ts'
import { agoText, durationText } from './time-text.ts'

test('amounts and times are short', () => {
  expect([countText(1_234_567), countText(12)]).toEqual(['1\u202F234\u202F567', '12'])
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
