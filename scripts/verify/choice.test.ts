import { expect, test } from 'vitest'
import { choose, fit } from './choice.ts'
import type { Part } from './part.ts'

const room = (name: string, imports: readonly string[], tests: readonly string[] = []) => ({
  name,
  imports,
  tests,
  folders: [],
  planned: false,
  exempt: false,
  does: name,
})
const ROOMS = {
  rooms: [
    room('ground', []),
    room('wire', ['ground']),
    room('motor', []),
    room('page', ['wire/browser'], ['motor']),
    room('island', []),
  ],
}
const part = (name: string, rooms: readonly string[], minutes = 5): Part => ({ name, what: name, files: [], rooms, minutes })
const PARTS = [part('browsers', ['page']), part('islands', ['island'])]

const chosen = (changed: readonly string[]) => {
  const { run, leftOut } = choose(PARTS, changed, ROOMS)
  return { run: run.map(({ part: { name }, why }) => `${name}: ${why}`), leftOut: leftOut.map(({ part: { name } }) => name) }
}

test('a part is run when a room that it depends on has changed, however far below', () => {
  expect(chosen(['packages/ground/src/a.ts'])).toEqual({
    run: ['browsers: packages/ground/src/a.ts has changed'],
    leftOut: ['islands'],
  })
})

test('a part is run when a room that tests alone use has changed', () => {
  expect(chosen(['packages/motor/src/a.ts']).run).toEqual(['browsers: packages/motor/src/a.ts has changed'])
})

test.each(['scripts/peers/peers.json', 'package-lock.json', 'package.json', 'vitest.config.ts', 'rooms.json', 'examples/a.ts'])(
  '%s touches every part',
  (path) => {
    expect(chosen([path]).leftOut).toEqual([])
  },
)

test('words touch no part, and neither does the note of the last landing', () => {
  const words = ['docs/glossary.md', 'CHANGELOG.md', 'packages/island/README.md', '.ci/landed']
  expect(chosen(words)).toEqual({ run: [], leftOut: ['browsers', 'islands'] })
  expect(chosen(['packages/island/contracts/FORMAT.md']).run).toHaveLength(1)
})

test('words that a part reads touch that part', () => {
  const reader = { ...part('reader', ['island']), paths: ['GUIDE.md'] }
  const { run, leftOut } = choose([reader, ...PARTS], ['GUIDE.md'], ROOMS)
  expect(run).toEqual([{ part: reader, why: 'GUIDE.md has changed' }])
  expect(leftOut).toHaveLength(PARTS.length)
})

test('nothing changed, nothing run', () => {
  expect(choose(PARTS, [], ROOMS).leftOut).toEqual(PARTS.map((one) => ({ part: one, why: 'unchanged' })))
})

test('what does not fit into the time is left out and says so, the longest first', () => {
  const run = [part('long', [], 15), part('short', [], 2), part('middle', [], 9)].map((one) => ({ part: one, why: 'changed' }))
  const fitted = fit({ run, leftOut: [] }, 20)
  expect(fitted.run.map((one) => one.part.name)).toEqual(['short', 'middle'])
  expect(fitted.leftOut.map(({ part: { name }, why }) => `${name}: ${why}`)).toEqual([
    'long: no time left: it takes 15 of the 20 minutes',
  ])
})

test('a part that depends on a room that is none is refused', () => {
  expect(() => choose([part('lost', ['nowhere'])], [], ROOMS)).toThrow('lost depends on nowhere, which is no room')
})
