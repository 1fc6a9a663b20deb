import { expect, test } from 'vitest'
import { Fold } from './fold.ts'

const line = (more: object) => ({
  at: 0,
  actor: 'eve',
  role: 'user',
  action: 'account.get',
  target: 'x',
  outcome: 'ok' as const,
  code: null,
  remote: '127.0.0.1',
  ...more,
})
const taken = (fold: Fold, count: number, more: object = {}): number =>
  Array.from({ length: count }, () => fold.takes(line(more))).filter(Boolean).length

test('one actor writes a share of lines, and what is beyond is counted and told once', () => {
  const fold = new Fold()
  expect(taken(fold, 5_000)).toBe(1_000)
  expect(taken(fold, 10, { action: 'job.list', outcome: 'failed', code: 'not_found' })).toBe(0)
  expect(fold.told(7)).toEqual([
    line({ at: 7, target: '4000 times more' }),
    line({ at: 7, action: 'job.list', outcome: 'failed', code: 'not_found', target: '10 times more' }),
  ])
  expect(fold.told(8)).toEqual([])
})

test('another actor has a share of their own, strangers have one together, and it comes back with time', () => {
  const fold = new Fold()
  taken(fold, 2_000)
  expect(taken(fold, 1, { actor: 'ann' })).toBe(1)
  expect(taken(fold, 600, { actor: 'anonymous', role: 'none', remote: '10.0.0.1' })).toBe(600)
  expect(taken(fold, 600, { actor: 'made up', role: 'none', remote: '10.0.0.2' })).toBe(400)
  expect(taken(fold, 100, { at: 30_000 })).toBe(30)
  expect(taken(fold, 5_000, { at: 1e9 })).toBe(1_000)
  // A clock that goes back gives nothing.
  expect(taken(fold, 10, { at: 5 })).toBe(0)
})

test('however many kinds there are, what is kept is bounded and nothing is uncounted', () => {
  const fold = new Fold()
  taken(fold, 1_000)
  for (let kind = 0; kind < 10_000; kind += 1) taken(fold, 1, { action: `no-such-tool-${kind}` })
  const told = fold.told(1)
  expect(told).toHaveLength(201)
  expect(told.reduce((sum, { target }) => sum + Number.parseInt(target ?? '', 10), 0)).toBe(10_000)
  expect(told.at(-1)).toMatchObject({ actor: 'several', action: 'several', code: 'folded' })
})
