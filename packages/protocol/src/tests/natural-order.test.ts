import { expect, test } from 'vitest'
import { compareNaturally } from './natural-order.ts'

test('numbers inside names count as numbers', () => {
  const ordered = [
    '1',
    '01',
    '2',
    '10',
    '99999999999999999999',
    '100000000000000000000',
    'a',
    'a/2',
    'a/10',
    'a1b2',
    'a1b10',
    'a-1',
  ]
  const mixed = [...ordered].toReversed()
  expect(mixed.toSorted(compareNaturally)).toEqual([
    '01',
    '1',
    '2',
    '10',
    '99999999999999999999',
    '100000000000000000000',
    'a',
    'a/2',
    'a/10',
    'a1b2',
    'a1b10',
    'a-1',
  ])
})

test('it is a total order on random names', () => {
  const names = Array.from({ length: 60 }, (_, seed) => nameOf(seed))
  for (const a of names)
    for (const b of names) {
      expect(Math.sign(compareNaturally(a, b)) + Math.sign(compareNaturally(b, a))).toBe(0)
      expect(compareNaturally(a, b) === 0).toBe(a === b)
      for (const c of names)
        if (compareNaturally(a, b) < 0 && compareNaturally(b, c) < 0 && compareNaturally(a, c) >= 0)
          throw new Error(`${a} < ${b} < ${c}, but not ${a} < ${c}`)
    }
})

/** Short names from few characters, so that they are near each other. */
function nameOf(seed: number): string {
  let state = seed * 2_654_435_761 + 1
  let text = ''
  for (let length = (seed % 6) + 1; length > 0; length -= 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += '0019/a-.'.charAt(Math.floor(state / 65_536) % 8)
  }
  return text
}
