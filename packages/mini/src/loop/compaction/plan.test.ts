import { expect, test } from 'vitest'
import { seeded } from '../../fixture/random.ts'
import { History } from '../history.ts'
import { planCompaction } from './plan.ts'

const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'x', arguments: '{}' })
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'y'.repeat(40) })
const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [] })

/** Some turns with any number of parallel calls, whose outputs come in any order. */
function someHistory(seed: number): History {
  const random = seeded(seed)
  const upTo = (most: number): number => random.below(most + 1)
  const history = new History()
  let seq = 0
  const add = { next: () => (seq += 1) }
  for (let answer = 1; answer <= 2 + upTo(12); answer++) {
    if (upTo(2) === 0) history.addInput(add.next(), user(`question ${answer}`), upTo(4) === 0)
    const calls = Array.from({ length: upTo(4) }, (_, index) => `c${answer}_${index}`)
    if (upTo(1) === 0) history.addItem(add.next(), reasoning(`r${answer}`), answer)
    for (const id of calls) history.addItem(add.next(), call(id), answer)
    if (calls.length === 0) history.addItem(add.next(), { type: 'message', role: 'assistant', content: 'words' }, answer)
    for (const id of calls.toSorted(() => random.below(2) - 0.5)) history.addOutput(add.next(), output(id))
  }
  return history
}

test('fault 22: a plan never parts a call from its output, reasoning from what follows, nor takes what is pinned', () => {
  let planned = 0
  for (let seed = 1; seed <= 500; seed++) {
    const history = someHistory(seed)
    const before = history.items()
    const share = (seed % 10) / 10
    const replaced = planCompaction(history.held, { keptItems: seed % 12, fits: (weight) => weight <= history.weight * share })
    if (replaced === undefined) continue
    planned += 1
    expect(replaced.some(({ pinned }) => pinned)).toBe(false)
    const gone = new Set(replaced.map(({ seq }) => seq))
    history.replace(({ seq }) => gone.has(seq), 10_000, user('summary'))
    const after = history.items()
    const ids = (type: string) =>
      after.flatMap((item) => (item.type === type ? [JSON.stringify(item['call_id'])] : [])).toSorted()
    expect(ids('function_call')).toEqual(ids('function_call_output'))
    for (const [index, item] of after.entries())
      if (item.type === 'reasoning') expect(after[index + 1]).toBe(before[before.indexOf(item) + 1])
    expect(after.filter((item) => !before.includes(item))).toEqual([user('summary')])
  }
  expect(planned).toBeGreaterThan(300)
})

test('the newest stay as long as they fit, then fewer of them', () => {
  const history = new History()
  for (let seq = 1; seq <= 20; seq++) history.addInput(seq, user('x'.repeat(100)), seq === 3)
  const each = history.weight / 20
  const left = (fits: (weight: number) => boolean): number =>
    20 - (planCompaction(history.held, { keptItems: 8, fits })?.length ?? 0)
  expect(left(() => true)).toBe(9)
  expect(left((weight) => weight <= each * 5)).toBe(5)
  expect(left(() => false)).toBe(1)
})

test('where there is next to nothing to sum up, there is no plan', () => {
  const history = new History()
  history.addInput(1, user('pinned'), true)
  history.addInput(2, user('only one'), false)
  expect(planCompaction(history.held, { keptItems: 0, fits: () => false })).toBeUndefined()
})
