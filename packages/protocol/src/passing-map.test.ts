import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { PassingMap } from './passing-map.ts'

test('a map of what is under way holds what was set until it is taken out, oldest first', () => {
  const map = new PassingMap<number, { readonly name: string }>()
  map.set(1, { name: 'first' })
  map.set(2, { name: 'second' })
  map.set(3, { name: 'third' })
  map.set(2, { name: 'another' })
  expect([map.get(2), map.get(4), map.has(2), map.size]).toEqual([{ name: 'another' }, undefined, true, 3])
  expect([map.take(1), map.take(1), map.has(1), map.size]).toEqual([{ name: 'first' }, undefined, false, 2])
  expect([...map.entries()]).toEqual([
    [2, { name: 'another' }],
    [3, { name: 'third' }],
  ])
  map.clear()
  expect([map.size, [...map.values()]]).toEqual([0, []])
})

test('what is taken out while somebody goes through it is not met any more, and what comes meanwhile is', () => {
  const map = new PassingMap<number, { readonly key: number }>()
  for (const key of [1, 2, 3]) map.set(key, { key })
  const met: number[] = []
  for (const { key } of map.values()) {
    met.push(key)
    map.take(key + 1)
    if (key === 3) map.set(4, { key: 4 })
  }
  expect(met).toEqual([1, 3, 4])
})

test('what was under way is cleared up with what is young, however old the map is', () => {
  setFlagsFromString('--expose-gc')
  // Where V8 guesses that parts live long it makes them among the old at once, and nothing here could tell that from parts that are kept.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const collect: (how?: { readonly type: 'minor' }) => void = runInNewContext('gc')
  const map = new PassingMap<number, { readonly parts: readonly object[] }>()
  for (let key = 0; key < 100; key += 1) map.set(key, { parts: [] })
  map.clear()
  // The map is among what is old from here on.
  collect()
  const before = oldBytes()
  for (let key = 0; key < 20_000; key += 1) {
    map.set(key, { parts: Array.from({ length: 20 }, (_, at) => ({ at })) })
    map.take(key - 32)
    if (key % 1_000 === 0) collect({ type: 'minor' })
  }
  const keptBytes = (oldBytes() - before) / 20_000
  // All parts of one are more than half a kilobyte.
  expect(keptBytes).toBeLessThan(250)
})

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? Number.NaN
