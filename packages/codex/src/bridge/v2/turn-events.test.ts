import { expect, test } from 'vitest'
import type { JsonObject } from '@parley/protocol'
import { Thread, TurnNotes } from './thread.ts'
import { turnEndOf, turnEvents } from './turn-events.ts'

function turning() {
  const thread = new Thread('t1')
  const turn = new TurnNotes('u1')
  const tell = (method: string, params: JsonObject) => turnEvents(method, params, thread, turn)
  return { thread, turn, tell }
}

const usage = (totalTokens: number): JsonObject => ({
  tokenUsage: {
    last: { totalTokens, inputTokens: totalTokens, outputTokens: 0 },
    total: { totalTokens },
    modelContextWindow: 1_000,
  },
})

test('output that was told already is not told again at the end of a command', () => {
  const { tell } = turning()
  const item = { type: 'commandExecution', id: 'c1', command: 'sh -c x', cwd: '/ws', status: 'inProgress' }
  tell('item/started', { item })
  tell('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'one\n' })
  const done = { ...item, status: 'completed', exitCode: 0, aggregatedOutput: 'one\ntwo\n', durationMs: 5 }
  expect(tell('item/completed', { item: done })).toEqual([
    { type: 'command_output', call: 'c1', stream: 'stdout', bytes: Buffer.from('two\n') },
    { type: 'command_end', call: 'c1', status: 'completed', exitCode: 0, output: 'one\ntwo\n', durationMs: 5 },
  ])
})

test('a patch says what it does to each file as a diff', () => {
  const changes = [
    { path: '/a', kind: { type: 'add' }, diff: 'x\ny' },
    { path: '/b', kind: { type: 'delete' }, diff: 'z\n' },
    { path: '/c', kind: { type: 'update', move_path: '/d' }, diff: '@@ -1 +1 @@\n-a\n+b\n' },
  ]
  expect(turning().tell('item/started', { item: { type: 'fileChange', id: 'p1', changes } })).toEqual([
    {
      type: 'patch_begin',
      call: 'p1',
      changes: [
        { path: '/a', kind: 'add', diff: '@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n' },
        { path: '/b', kind: 'delete', diff: '@@ -1 +0,0 @@\n-z\n' },
        { path: '/c', kind: 'update', movedTo: '/d', diff: '@@ -1 +1 @@\n-a\n+b\n' },
      ],
    },
  ])
})

test('tools of Codex itself are tools of no mount', () => {
  const { tell } = turning()
  const item = { type: 'webSearch', id: 'w1', query: 'weather' }
  expect(tell('item/started', { item })).toEqual([
    { type: 'tool_begin', call: 'w1', mount: null, tool: 'web_search', arguments: { query: 'weather' } },
  ])
  expect(tell('item/completed', { item })).toMatchObject([{ type: 'tool_end', call: 'w1', status: 'completed', error: null }])
})

test('a mounted tool that fails with an answer keeps the answer', () => {
  const { tell } = turning()
  const result = { content: [{ type: 'text', text: 'no' }], structuredContent: { a: 1 }, _meta: null }
  const item = {
    type: 'mcpToolCall',
    id: 'm1',
    server: 'db',
    tool: 'query',
    status: 'failed',
    result,
    error: null,
    durationMs: 3,
  }
  expect(tell('item/completed', { item })).toEqual([
    {
      type: 'tool_end',
      call: 'm1',
      status: 'failed',
      result: { content: [{ type: 'text', text: 'no' }], structuredContent: { a: 1 }, isError: true },
      error: null,
      durationMs: 3,
    },
  ])
})

test('how far a conversation was summed up is known after the next request', () => {
  const { tell } = turning()
  tell('thread/tokenUsage/updated', usage(900))
  expect(tell('item/completed', { item: { type: 'contextCompaction', id: 'k1' } })).toEqual([])
  expect(tell('thread/compacted', {})).toEqual([])
  expect(tell('thread/tokenUsage/updated', usage(100))).toMatchObject([
    { type: 'compacted', before: 900, after: 100 },
    { type: 'usage' },
  ])
  expect(tell('thread/tokenUsage/updated', usage(120))).toMatchObject([{ type: 'usage', call: 'u1/3', contextTokens: 120 }])
})

test('a request that is made again is a retry, the same diff again is nothing', () => {
  const { tell } = turning()
  const error = { message: 'Reconnecting', additionalDetails: 'cut off' }
  expect(tell('error', { error, willRetry: true })).toEqual([
    { type: 'retry', attempt: 1, waitMs: 0, reason: 'Reconnecting: cut off' },
  ])
  expect(tell('error', { error, willRetry: false })).toEqual([])
  expect(tell('turn/diff/updated', { diff: 'd' })).toEqual([{ type: 'diff', diff: 'd' }])
  expect(tell('turn/diff/updated', { diff: 'd' })).toEqual([])
})

test('thoughts come in parts, and whole where no part was told', () => {
  const { tell } = turning()
  expect(tell('item/reasoning/summaryPartAdded', { itemId: 'r1', summaryIndex: 1 })).toEqual([
    { type: 'reasoning_part', item: 'r1', part: 1 },
  ])
  expect(tell('item/reasoning/textDelta', { itemId: 'r1', delta: 'hm', contentIndex: 0 })).toEqual([
    { type: 'reasoning_delta', item: 'r1', part: 0, delta: 'hm', raw: true },
  ])
  expect(tell('item/completed', { item: { type: 'reasoning', id: 'r1', summary: ['a', 'b'], content: [] } })).toEqual([
    { type: 'reasoning', item: 'r1', text: 'a\n\nb' },
  ])
  expect(tell('item/completed', { item: { type: 'reasoning', id: 'r2', summary: [], content: ['c'] } })).toHaveLength(2)
})

test('what nobody knows is nothing', () => {
  const { tell, turn } = turning()
  expect(tell('item/started', { item: { type: 'ofTomorrow', id: 'x' } })).toEqual([])
  expect(tell('item/completed', { item: { type: 'ofTomorrow', id: 'x' } })).toEqual([])
  expect(tell('of/tomorrow', {})).toEqual([])
  expect(turnEndOf({ status: 'completed' }, turn)).toEqual({ kind: 'completed', message: '' })
})
