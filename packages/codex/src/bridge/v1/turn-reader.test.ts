import { expect, test } from 'vitest'
import type { EngineEvent, TurnEnd } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { TurnReader } from './turn-reader.ts'

function open(required: readonly string[] = []) {
  const events: EngineEvent[] = []
  const ends: TurnEnd[] = []
  let strays = 0
  const hearer = {
    event: (event: EngineEvent) => void events.push(event),
    ended: (end: TurnEnd) => void ends.push(end),
    stray: () => void (strays += 1),
  }
  const reader = new TurnReader(hearer, { required })
  const tell = (submission: string, ...messages: readonly JsonObject[]): void => {
    for (const message of messages) reader.read(submission, message)
  }
  return { events, ends, reader, tell, strays: () => strays }
}

const STARTED = { type: 'task_started' }
const COMPLETE = { type: 'task_complete', last_agent_message: 'done' }

test('thoughts in parts are one thought, told whole when something else comes', () => {
  const { events, reader, tell } = open()
  reader.begin()
  tell('0', STARTED, { type: 'agent_reasoning_section_break' }, { type: 'agent_reasoning_delta', delta: 'one' })
  tell('0', { type: 'agent_reasoning_section_break' }, { type: 'agent_reasoning_delta', delta: 'two' })
  tell('0', { type: 'agent_reasoning', text: 'one' }, { type: 'agent_reasoning', text: 'two' }, COMPLETE)
  expect(events).toEqual([
    { type: 'reasoning_part', item: 'thought-1', part: 0 },
    { type: 'reasoning_delta', item: 'thought-1', part: 0, delta: 'one', raw: false },
    { type: 'reasoning_part', item: 'thought-1', part: 1 },
    { type: 'reasoning_delta', item: 'thought-1', part: 1, delta: 'two', raw: false },
    { type: 'reasoning', item: 'thought-1', text: 'one\n\ntwo' },
  ])
})

test('what comes late of a turn that was cut short belongs to no other', () => {
  const { events, ends, reader, tell } = open()
  reader.begin()
  tell('0', STARTED, { type: 'turn_aborted', reason: 'interrupted' })
  reader.begin()
  tell('0', { type: 'agent_message', message: 'too late' }, COMPLETE)
  tell('1', STARTED)
  tell('0', { type: 'agent_message', message: 'later still' }, COMPLETE)
  tell('1', COMPLETE)
  expect(events).toEqual([])
  expect(ends).toEqual([{ kind: 'interrupted' }, { kind: 'completed', message: 'done' }])
})

test('a turn that nobody asked for is stopped', () => {
  const { events, ends, tell, strays } = open()
  tell('0', STARTED, { type: 'agent_message', message: 'hello?' }, COMPLETE)
  expect({ events, ends, strays: strays() }).toEqual({ events: [], ends: [], strays: 1 })
})

test('a message without pieces is one piece', () => {
  const { events, reader, tell } = open()
  reader.begin()
  tell('0', STARTED, { type: 'agent_message', message: 'whole' })
  expect(events).toEqual([
    { type: 'message_delta', item: 'message-1', delta: 'whole' },
    { type: 'message', item: 'message-1', text: 'whole' },
  ])
})

test('a call that was denied has one beginning and one end, told by Codex or not', () => {
  const { events, reader, tell } = open()
  reader.begin()
  tell('0', STARTED)
  reader.calls.declined('c1', (calls) => calls.command('c1', ['rm'], '/f'))
  tell('0', { type: 'exec_command_end', call_id: 'c1', exit_code: -1, aggregated_output: 'rejected' })
  tell('0', { type: 'exec_command_begin', call_id: 'c2', command: ['mv'], cwd: '/f' })
  reader.calls.declined('c2', (calls) => calls.command('c2', ['mv'], '/f'))
  tell('0', { type: 'exec_command_end', call_id: 'c2', exit_code: -1, aggregated_output: 'rejected' })
  const told = events.map((event) => ('call' in event ? `${event.type} ${event.call}` : event.type))
  expect(told).toEqual(['command_begin c1', 'command_end c1', 'command_begin c2', 'command_end c2'])
  expect(events.at(-1)).toMatchObject({ status: 'declined', exitCode: null })
})

test('tools of servers, searches, images and retries are told', () => {
  const { events, reader, tell } = open()
  reader.begin()
  const invocation = { server: 'web', tool: 'get', arguments: { a: 1 } }
  tell('0', STARTED, { type: 'mcp_tool_call_begin', call_id: 'c1', invocation })
  tell('0', {
    type: 'mcp_tool_call_end',
    call_id: 'c1',
    invocation,
    duration: { secs: 1, nanos: 5_000_000 },
    result: { Err: 'gone' },
  })
  tell('0', { type: 'web_search_begin', call_id: 'c2' }, { type: 'web_search_end', call_id: 'c2', query: 'q' })
  tell('0', { type: 'view_image_tool_call', call_id: 'c3', path: '/i.png' })
  tell('0', { type: 'stream_error', message: 'stream error: cut; retrying 2/5 in 1.5s…' })
  expect(events).toEqual([
    { type: 'tool_begin', call: 'c1', mount: 'web', tool: 'get', arguments: { a: 1 } },
    { type: 'tool_end', call: 'c1', status: 'failed', result: null, error: 'gone', durationMs: 1_005 },
    { type: 'tool_begin', call: 'c2', mount: null, tool: 'web_search', arguments: null },
    expect.objectContaining({ type: 'tool_end', call: 'c2', status: 'completed' }),
    { type: 'tool_begin', call: 'c3', mount: null, tool: 'view_image', arguments: { path: '/i.png' } },
    expect.objectContaining({ type: 'tool_end', call: 'c3', status: 'completed' }),
    expect.objectContaining({ type: 'retry', attempt: 2, waitMs: 1_500 }),
  ])
})

test('a message in another form than the known one is a warning', () => {
  const { events, reader, tell } = open()
  reader.begin()
  tell('0', STARTED, { type: 'exec_command_begin', call_id: 7 }, { type: 'nobody_knows' })
  expect(events).toEqual([{ type: 'warning', message: expect.stringContaining('exec_command_begin') }])
})
