import { expect, test } from 'vitest'
import { faultRows, namedTests } from './fault-table.ts'

const SOURCE = `describe.each(ENGINES)('approvals on %s', (engine) => {
  test('fault 1: a denied one is never sent', () => {})
  test('another', () => {})
})

describe('fault 2: windows', () => {})
test.for(['a'])(
  "fault 1: it's told",
  () => {},
)
test('faults 1, 2 and 3: all of them', () => {})
`

test('titles with a number are found, with the groups that they are in', () => {
  expect(namedTests('a.test.ts', SOURCE)).toEqual([
    { fault: 1, title: 'approvals on %s: a denied one is never sent', path: 'a.test.ts' },
    { fault: 2, title: 'windows', path: 'a.test.ts' },
    { fault: 1, title: "it's told", path: 'a.test.ts' },
    ...[1, 2, 3].map((fault) => ({ fault, title: 'all of them', path: 'a.test.ts' })),
  ])
})

test('a fault has a test, a word of why, or both; one with neither, and a test of one that nobody knows, are refused', () => {
  const tests = namedTests('packages/a.test.ts', SOURCE)
  const faults = [
    { fault: 1, what: 'Sent.' },
    { fault: 2, what: 'Cut.', open: 'the rest' },
    { fault: 3, what: 'Chat.', open: 'no chat yet' },
  ]
  expect(faultRows(faults, tests).split('\n').slice(2)).toEqual([
    "| 1 | Sent. | approvals on %s: a denied one is never sent ([test](../../packages/a.test.ts))<br>it's told ([test](../../packages/a.test.ts))<br>all of them ([test](../../packages/a.test.ts)) |",
    '| 2 | Cut. | windows ([test](../../packages/a.test.ts))<br>all of them ([test](../../packages/a.test.ts))<br>*To come:* the rest |',
    '| 3 | Chat. | all of them ([test](../../packages/a.test.ts))<br>*To come:* no chat yet |',
  ])
  expect(() => faultRows([...faults, { fault: 4, what: 'Lost.' }], tests)).toThrow(
    'fault 4 of docs/runtime/faults.json has neither',
  )
  expect(() => faultRows(faults.slice(1), tests)).toThrow('packages/a.test.ts names a test after fault 1')
})
