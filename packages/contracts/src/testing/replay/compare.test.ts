import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { RecordedLine } from '../../registry/registry-types.ts'
import { compare } from './compare.ts'
import type { Excuse } from './exception.ts'

const asks = (id: number, method: string, params: JsonObject = {}): RecordedLine => ({
  dir: '>',
  message: { id, method, params },
})
const answers = (id: number, result: JsonObject): RecordedLine => ({ dir: '<', message: { id, result } })
const tells = (type: string, more: JsonObject = {}): RecordedLine => ({
  dir: '<',
  message: { method: 'codex/event', params: { msg: { type, ...more } } },
})
const excused = (...excuses: readonly Excuse[]) => [{ name: 'one', reason: 'It is a test.', excuses }]
const UUIDS = ['01a1e073-7a42-7000-8000-000000000001', '01a1e073-7a42-7000-8000-000000000002'] as const

test('the same talk with other ids, times and request numbers has no difference', () => {
  const talk = (id: string, request: number): readonly RecordedLine[] => [
    asks(request, 'newConversation'),
    answers(request, { conversationId: id, startedAt: request }),
    tells('task_started', { turn_id: id }),
  ]
  expect(compare(talk(UUIDS[0], 1), talk(UUIDS[1], 7), [])).toEqual({ differences: [], used: new Set() })
})

test('an id that is another one than before is a difference', () => {
  const talk = (second: string): readonly RecordedLine[] => [tells('a', { turn_id: UUIDS[0] }), tells('b', { turn_id: second })]
  expect(compare(talk(UUIDS[0]), talk(UUIDS[1]), []).differences).toMatchObject([{ at: '< codex/event b: params.msg.turn_id' }])
})

test('what is missing, added, swapped, of another type or of another value is named', () => {
  const [a, b, c] = [tells('a'), tells('b'), tells('c')]
  const places = (recorded: readonly RecordedLine[], ours: readonly RecordedLine[]): readonly string[] =>
    compare(recorded, ours, []).differences.map(({ at }) => at)
  expect(places([a, b, c], [a, c])).toEqual(['< codex/event b'])
  expect(places([a, c], [a, b, c])).toEqual(['< codex/event b'])
  expect(places([a, b], [b, a])).toHaveLength(2)
  const values = [tells('a', { n: 1, m: 'x', only: true })]
  expect(places(values, [tells('a', { n: '1', m: 'y' })])).toEqual([
    '< codex/event a: params.msg.n',
    '< codex/event a: params.msg.m',
    '< codex/event a: params.msg.only',
  ])
})

test('an exception excuses its own kind alone, and says when it did', () => {
  const [one, other] = [[tells('a', { n: 1 })], [tells('a', { n: '1' })]]
  expect(compare(one, other, excused({ value: /\.n$/ })).differences).toHaveLength(1)
  expect(compare(one, other, excused({ field: /\.n$/ }))).toEqual({ differences: [], used: new Set(['one']) })
  expect(compare(one, one, excused({ field: /\.n$/ })).used).toEqual(new Set())
})

test('what moved is compared where it stands, and pieces of one text as one', () => {
  const [usage, delta] = [tells('usage', { n: 1 }), (text: string) => tells('x_delta', { delta: text })]
  const moved = excused({ moved: / usage$/ }, { merged: /_delta$/ })
  const recorded = [usage, tells('a'), delta('one'), delta('two')]
  expect(compare(recorded, [tells('a'), delta('onetwo'), usage], moved).differences).toEqual([])
  expect(compare(recorded, [tells('a'), delta('onetwo'), tells('usage', { n: 2 })], moved).differences).toMatchObject([
    { at: '< codex/event usage: params.msg.n' },
  ])
})

test('only what the recording leaves unanswered may be answered beside it', () => {
  const recorded = [asks(1, 'a'), asks(2, 'b'), answers(2, {})]
  const ours = [asks(1, 'a'), answers(1, {}), asks(2, 'b'), answers(2, {})]
  expect(compare(recorded, ours, excused({ answered: /./ }))).toEqual({ differences: [], used: new Set(['one']) })
  expect(compare(recorded, [...ours, answers(2, {})], excused({ answered: /./ })).differences).toHaveLength(1)
})
