import { Meter, RecentMap } from '@parley/protocol'
import { expect, test } from 'vitest'
import { MeterTable } from './meter-table.ts'

test('a meter gives its burst, then its rate, and never more than its burst', () => {
  let now = 0
  const meter = new Meter({ perSecond: 2, burst: 3 }, () => now)
  const takes = (count: number) => Array.from({ length: count }, () => meter.take())
  expect(takes(4)).toEqual([true, true, true, false])
  expect(meter.waitSeconds).toBe(1)
  now = 500
  expect(takes(2)).toEqual([true, false])
  now = 100_000
  expect(takes(4)).toEqual([true, true, true, false])
  now = 0
  expect(meter.take()).toBe(false)
  meter.refund()
  expect(meter.take()).toBe(true)
})

test('a recent map forgets what was unused for longest', () => {
  const map = new RecentMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.set('c', 3)
  expect([map.size, map.peek('a'), map.peek('b'), map.peek('c')]).toEqual([2, 1, undefined, 3])
})

test('a table of meters is bounded', () => {
  const table = new MeterTable({ perSecond: 1, burst: 1 }, 2, () => 0)
  const first = table.get('a')
  expect(table.get('a')).toBe(first)
  table.get('b')
  table.get('c')
  expect(table.get('a')).not.toBe(first)
})
