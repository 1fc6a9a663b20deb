import type { AgentStatusItem } from '@parley/protocol'
import { expect, test } from 'vitest'
import { TIMELINE_LIMITS, TimelineModel } from './timeline-model.ts'

function item(more: Partial<AgentStatusItem>): AgentStatusItem {
  const about = { ts: '2026-01-01T00:00:00.000Z', job_id: 'job', attempt: 1, stage: 'coding', level: 'info' } as const
  return { ...about, progress: null, summary: '', meta: {}, seq: '1', ...more }
}
const says = (delta: string, meta = {}) => item({ kind: 'agent_message_delta', delta, meta })

function shown(model: TimelineModel): readonly string[] {
  return model.takeChanges().changed.map((entry) => (entry.kind === 'step' ? entry.item.summary : entry.text))
}

test('pieces of one message are one entry, also when another speaks between them', () => {
  const model = new TimelineModel()
  for (const piece of [
    says('a', { item: 'm1' }),
    says('x', { item: 'm2' }),
    item({ summary: 'step' }),
    says('b', { item: 'm1' }),
  ])
    model.push(piece)
  expect(shown(model)).toEqual(['ab', 'x', 'step'])
  expect(shown(model)).toEqual([])
})

test('pieces that do not say what they belong to end with the next step, and all end with another judge', () => {
  const model = new TimelineModel()
  for (const piece of [says('a'), says('b'), item({ summary: 'step' }), says('c'), says('m', { item: 'm1' })]) model.push(piece)
  model.push(item({ summary: 'claimed', meta: { claim: 2 } }))
  model.push(says('n', { item: 'm1' }))
  expect(shown(model)).toEqual(['ab', 'step', 'c', 'm', 'claimed', 'n'])
})

test('counting on takes the place of the count before', () => {
  const model = new TimelineModel()
  for (const done of [0, 1, 2]) model.push(item({ summary: `${done} of 2`, meta: { done, total: 2 } }))
  model.push(item({ summary: '0 of 2', attempt: 2, meta: { done: 0, total: 2 } }))
  expect(shown(model)).toEqual(['2 of 2', '0 of 2'])
})

test('what is kept is bounded in entries, in one writing and in all', () => {
  const steps = new TimelineModel()
  for (let step = 0; step < TIMELINE_LIMITS.entries + 3; step += 1) steps.push(item({ summary: String(step) }))
  expect(steps.dropped).toBe(3)
  const { changed, removed } = steps.takeChanges()
  expect({ count: changed.length, removed }).toEqual({ count: TIMELINE_LIMITS.entries, removed: [1, 2, 3] })

  const long = new TimelineModel()
  for (let piece = 0; piece < 3; piece += 1) long.push(says('x'.repeat(TIMELINE_LIMITS.writingChars / 2), { item: 'm' }))
  expect(long.takeChanges().changed).toMatchObject([{ isCut: true, text: 'x'.repeat(TIMELINE_LIMITS.writingChars) }])

  const many = new TimelineModel()
  const count = TIMELINE_LIMITS.chars / TIMELINE_LIMITS.writingChars
  for (let each = 0; each <= count; each += 1) many.push(says('x'.repeat(TIMELINE_LIMITS.writingChars), { item: `m${each}` }))
  expect(many.takeChanges().changed).toHaveLength(count)
})
