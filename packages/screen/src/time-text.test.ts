import { expect, test } from 'vitest'
import { agoText, leftText, secondText, timeText } from './time-text.ts'

const AT = '2026-03-29T00:59:58.123Z'

test.each([
  ['UTC', '2026-03-29 00:59'],
  ['Europe/Berlin', '2026-03-29 01:59'],
  ['Asia/Kathmandu', '2026-03-29 06:44'],
  ['America/New_York', '2026-03-28 20:59'],
])('in %s a person reads the time of that place', (TZ, text) => {
  expect(timeText(AT, { env: { TZ } })).toBe(text)
  expect(secondText(AT, { env: { TZ } })).toBe(`${text}:58`)
})

test('a zone that is none leaves the time of the process', () => {
  expect(timeText(AT, { env: { TZ: ':/no/such/zone' } })).toBe(timeText(AT, { env: {} }))
})

test('at a terminal the last day is told by how long ago; into a pipe goes the moment', () => {
  const screen = { columns: 80, rows: 24, isUnicode: true, hasColours: false }
  const ago = (ms: number, shown = true) =>
    agoText(AT, { env: { TZ: 'UTC' }, now: () => Date.parse(AT) + ms, screen: () => (shown ? screen : undefined) })
  expect([0, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999].map((ms) => ago(ms))).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '23 h ago',
  ])
  expect([ago(86_400_000), ago(-120_000), ago(60_000, false)]).toEqual(Array(3).fill('2026-03-29 00:59'))
})

test('what is to come is told by how long until then; into a pipe goes the moment, and so does what is over', () => {
  const at = (ms: number, shown = true): string =>
    leftText(AT, {
      env: { TZ: 'UTC' },
      now: () => Date.parse(AT) - ms,
      screen: () => (shown ? { columns: 80, rows: 24, isUnicode: true, hasColours: false } : undefined),
    })
  expect([at(5_000), at(90_000), at(2 * 3_600_000)]).toEqual(['in less than a minute', 'in 1 min', 'in 2 h'])
  expect([at(90_000, false), at(0), at(48 * 3_600_000)]).toEqual(Array(3).fill('2026-03-29 00:59'))
})
