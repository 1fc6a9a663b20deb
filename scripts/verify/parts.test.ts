import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { loadRooms } from '../check/rooms.ts'
import { filesOf, PARTS, roomsOf } from './part.ts'

const root = dirname(dirname(import.meta.dirname))

test('every test that npm test leaves out belongs to one part, and every part has tests', () => {
  const all = globSync(['packages/*/{src,contracts}/**/*.verify.test.ts', 'scripts/**/*.verify.test.ts'], {
    cwd: root,
  }).toSorted()
  expect(PARTS.filter((part) => filesOf(part, root).length === 0)).toEqual([])
  expect(PARTS.flatMap((part) => filesOf(part, root)).toSorted()).toEqual(all)
})

test('a part depends on the rooms whose tests it runs', () => {
  for (const part of PARTS) {
    const rooms = roomsOf(part, loadRooms(root))
    // A change of scripts touches every part.
    const own = filesOf(part, root)
      .filter((file) => file.startsWith('packages/'))
      .map((file) => file.split('/')[1])
    expect({ [part.name]: own.filter((room) => room === undefined || !rooms.has(room)) }).toEqual({ [part.name]: [] })
  }
})

test('what a part reads beside its rooms is there', () => {
  const named = PARTS.flatMap(({ paths = [] }) => paths)
  expect(globSync([...named], { cwd: root }).toSorted()).toEqual(named.toSorted())
})

test('all parts together fit into an hour', () => {
  expect(PARTS.reduce((sum, { minutes }) => sum + minutes, 0)).toBeLessThanOrEqual(60)
})
