import { expect, test } from 'vitest'
import { readArguments, USAGE } from './arguments.ts'
import { planParts } from './plan.ts'

test('three times, not busy and with a fresh seed unless something else is asked for', () => {
  expect(readArguments([], 99)).toEqual({ kind: 'run', order: { paths: [], times: 3, load: false, seed: 99 } })
  const asked = ['packages/rpc', '--times', '5', '--load', '--seed', '7', '--part', 'rpc-1', 'codex']
  expect(readArguments(asked, 99)).toEqual({
    kind: 'run',
    order: { paths: ['packages/rpc', 'codex'], times: 5, load: true, seed: 7, part: 'rpc-1' },
  })
  expect(readArguments(['--resume'], 99)).toEqual({ kind: 'resume' })
  expect(readArguments(['-h'], 99)).toEqual({ kind: 'help', words: USAGE })
})

test.each([
  [['--times', '0'], '--times takes a whole number from 1 to 1000'],
  [['--times', 'x'], '--times takes a whole number'],
  [['--seed', '1.5'], '--seed takes a whole number'],
  [['--resume', '--load'], '--resume stands alone'],
  [['--resume', 'rpc'], '--resume stands alone'],
  [['--often'], '--often'],
])('%j is answered with what is wrong and how it is used', (argv, words) => {
  const asked = readArguments(argv, 99)
  expect(asked).toEqual({ kind: 'wrong', words: expect.stringContaining(words) })
  expect(asked).toEqual({ kind: 'wrong', words: expect.stringContaining(`\n${USAGE}`) })
})

test('files are run by room, and a large room in pieces of about the same size', () => {
  const many = Array.from({ length: 30 }, (_, index) => `packages/big/src/${String(index).padStart(2, '0')}.test.ts`)
  const parts = planParts([...many, 'packages/small/src/a.test.ts', 'scripts/b.test.ts', 'scripts/c/d.test.ts'])
  expect(parts.map(({ name, files }) => [name, files.length])).toEqual([
    ['big-1', 15],
    ['big-2', 15],
    ['small', 1],
    ['scripts', 2],
  ])
  expect(parts.flatMap(({ files }) => files)).toHaveLength(33)
})
