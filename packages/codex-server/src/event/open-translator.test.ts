import type { EngineEvent } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import type { BackedConversation, EventMessage } from '@parley/codex/port'
import { openTranslator } from './open-translator.ts'
import type { EventDialect } from './translator.ts'

const CONVERSATION: BackedConversation = {
  id: '01a1e3c8-a965-7a11-ad94-ea66fe618e2f',
  model: 'gpt-5',
  effort: 'low',
  rolloutPath: '/HOME/rollout.jsonl',
  initialMessages: [{ type: 'user_message', message: 'before' }],
  contextWindow: 272_000,
  submit: () => unused(),
  steer: () => unused(),
  interrupt: () => unused(),
  close: () => unused(),
}
const unused = (): never => {
  throw new TypeError('not used here')
}

const tokens = (input: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: 2,
  output_tokens: output,
  cached_output_tokens: 0,
  reasoning_output_tokens: 0,
})
const usage: EngineEvent = {
  type: 'usage',
  call: 'resp_1',
  last: tokens(10, 5),
  total: tokens(10, 5),
  estimated: false,
  contextTokens: null,
}
const started: EngineEvent = { type: 'turn_started', turn: 't1' }
const begins: EngineEvent = { type: 'command_begin', call: 'c1', argv: ['bash', '-lc', 'cat notes/a.txt'], folder: '/ws' }
const asks: EngineEvent = {
  type: 'approval_requested',
  request: { id: 'q1', call: 'c1', reason: 'because', kind: 'command', argv: ['bash', '-lc', 'cat notes/a.txt'], folder: '/ws' },
}
const ends: EngineEvent = {
  type: 'command_end',
  call: 'c1',
  status: 'completed',
  exitCode: 0,
  output: 'both\n',
  durationMs: 1_500,
}
const completed: EngineEvent = { type: 'turn_ended', turn: 't1', end: { kind: 'completed', message: 'done' } }

function tell(dialect: EventDialect, events: readonly EngineEvent[]): readonly EventMessage[] {
  const translator = openTranslator(dialect, CONVERSATION, { order: { folder: '/ws' }, now: () => 5_000 })
  return events.flatMap((event) => translator.translate(event))
}
const typesOf = (messages: readonly JsonObject[]) => messages.map(({ type }) => type)

test('the first event of a conversation says how it began', () => {
  const order = { folder: '/ws', approvalPolicy: 'never', sandbox: 'danger-full-access' } as const
  expect(openTranslator('0.44', CONVERSATION, { order }).configured()).toEqual({
    type: 'session_configured',
    session_id: CONVERSATION.id,
    model: 'gpt-5',
    reasoning_effort: 'low',
    history_log_id: 0,
    history_entry_count: 0,
    initial_messages: [{ type: 'user_message', message: 'before' }],
    rollout_path: '/HOME/rollout.jsonl',
  })
  expect(openTranslator('0.153', CONVERSATION, { order }).configured()).toMatchObject({
    thread_id: CONVERSATION.id,
    approval_policy: 'never',
    permission_profile: { type: 'disabled' },
    cwd: '/ws',
  })
})

test('a command that is asked about begins after the question, whatever the engine says first', () => {
  const approved: EngineEvent = { type: 'approval_resolved', id: 'q1', decision: 'approved' }
  for (const dialect of ['0.44', '0.153'] as const) {
    const told = typesOf(tell(dialect, [started, begins, asks, approved, ends, usage, completed]))
    expect(told.indexOf('exec_approval_request')).toBeLessThan(told.indexOf('exec_command_begin'))
    expect(told.filter((type) => type === 'exec_command_begin')).toHaveLength(1)
  }
})

test('a command that was not allowed never began', () => {
  const denied: EngineEvent = { type: 'approval_resolved', id: 'q1', decision: 'denied' }
  const declined: EngineEvent = { ...ends, status: 'declined', exitCode: null }
  for (const dialect of ['0.44', '0.153'] as const) {
    const told = typesOf(tell(dialect, [started, begins, asks, denied, declined, usage, completed]))
    expect(told).not.toContain('exec_command_begin')
    expect(told).not.toContain('exec_command_end')
  }
})

test('a beginning that nobody asks about is told after a moment', async () => {
  const late = Promise.withResolvers<readonly EventMessage[]>()
  const translator = openTranslator('0.44', CONVERSATION, { later: late.resolve })
  translator.translate(started)
  expect(typesOf(translator.translate(begins))).toEqual(['token_count'])
  expect(await late.promise).toEqual([
    {
      type: 'exec_command_begin',
      call_id: 'c1',
      command: ['bash', '-lc', 'cat notes/a.txt'],
      cwd: '/ws',
      parsed_cmd: [{ type: 'read', cmd: 'cat notes/a.txt', name: 'a.txt' }],
    },
  ])
  expect(typesOf(translator.translate(ends))).toEqual(['exec_command_end'])
})

test('what a command printed is told by stream, in pieces and at its end', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const told = tell('0.44', [
    started,
    begins,
    { type: 'command_output', call: 'c1', stream: 'stdout', bytes: bytes('out\n') },
    { type: 'command_output', call: 'c1', stream: 'stderr', bytes: bytes('err\n') },
    { ...ends, output: 'out\nerr\n', exitCode: 3 },
  ])
  expect(told.slice(3)).toEqual([
    { type: 'exec_command_output_delta', call_id: 'c1', stream: 'stdout', chunk: 'b3V0Cg==' },
    { type: 'exec_command_output_delta', call_id: 'c1', stream: 'stderr', chunk: 'ZXJyCg==' },
    {
      type: 'exec_command_end',
      call_id: 'c1',
      stdout: 'out\n',
      stderr: 'err\n',
      aggregated_output: 'out\nerr\n',
      exit_code: 3,
      duration: { secs: 1, nanos: 500_000_000 },
      formatted_output: 'out\nerr\n',
    },
  ])
})

test('tokens are counted after what the answer led to, whether the engine counts before or after it', () => {
  const acts = [begins, ends]
  const answer: readonly EngineEvent[] = [
    { type: 'message_delta', item: 'm2', delta: 'done' },
    { type: 'message', item: 'm2', text: 'done' },
  ]
  const expected = [
    'task_started',
    'token_count',
    'exec_command_begin',
    'exec_command_end',
    'token_count',
    'token_count',
    'agent_message_delta',
    'agent_message',
    'token_count',
    'task_complete',
  ]
  const [delta, whole] = answer
  if (delta === undefined || whole === undefined) throw new TypeError('two events')
  expect(typesOf(tell('0.44', [started, usage, ...acts, delta, usage, whole, completed]))).toEqual(expected)
  expect(typesOf(tell('0.44', [started, ...acts, usage, delta, whole, usage, completed]))).toEqual(expected)
})

test('changes of files in every kind, from a diff or from the text itself', () => {
  const changes = [
    { path: 'new.txt', kind: 'add', diff: '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hi\n' },
    { path: '/ws/raw.txt', kind: 'add', diff: 'plain\ntext\n' },
    { path: 'gone.txt', kind: 'delete', diff: '@@ -1 +0,0 @@\n-bye\n' },
    { path: 'old.txt', kind: 'update', movedTo: 'moved.txt', diff: '--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-a\n+b\n' },
  ] as const
  const patched: readonly EngineEvent[] = [
    started,
    { type: 'patch_begin', call: 'p1', changes },
    { type: 'patch_end', call: 'p1', status: 'completed', error: null },
  ]
  expect(tell('0.44', patched).slice(2)).toEqual([
    {
      type: 'patch_apply_begin',
      call_id: 'p1',
      auto_approved: true,
      changes: {
        '/ws/new.txt': { add: { content: 'hi\n' } },
        '/ws/raw.txt': { add: { content: 'plain\ntext\n' } },
        '/ws/gone.txt': { delete: { content: 'bye\n' } },
        '/ws/old.txt': { update: { unified_diff: '@@ -1 +1 @@\n-a\n+b\n', move_path: '/ws/moved.txt' } },
      },
    },
    {
      type: 'patch_apply_end',
      call_id: 'p1',
      stdout: 'Success. Updated the following files:\nA new.txt\nA raw.txt\nD gone.txt\nM moved.txt\n',
      stderr: '',
      success: true,
    },
  ])
})

test('raw thoughts, several parts, a plan, tools, retries and warnings have their words', () => {
  const told = tell('0.44', [
    started,
    { type: 'reasoning_part', item: 'r1', part: 0 },
    { type: 'reasoning_delta', item: 'r1', part: 0, delta: 'one', raw: false },
    { type: 'reasoning_part', item: 'r1', part: 1 },
    { type: 'reasoning_delta', item: 'r1', part: 1, delta: 'two', raw: false },
    { type: 'reasoning', item: 'r1', text: 'one\n\ntwo' },
    { type: 'reasoning_delta', item: 'r2', part: 0, delta: 'deep', raw: true },
    { type: 'reasoning', item: 'r2', text: 'deep' },
    { type: 'plan', explanation: null, steps: [{ step: 'a', status: 'pending' }] },
    { type: 'tool_begin', call: 't1', mount: 'fx', tool: 'echo', arguments: {} },
    { type: 'tool_end', call: 't1', status: 'failed', result: null, error: 'gone', durationMs: 2 },
    { type: 'retry', attempt: 2, waitMs: 5, reason: 'cut' },
    { type: 'warning', message: 'careful' },
    { type: 'turn_ended', turn: 't1', end: { kind: 'failed', code: 'internal', message: 'broke' } },
  ])
  expect(told.slice(2).map(({ type, text, delta, result, message }) => [type, text ?? delta ?? result ?? message])).toEqual([
    ['agent_reasoning_section_break', undefined],
    ['agent_reasoning_delta', 'one'],
    ['agent_reasoning_section_break', undefined],
    ['agent_reasoning_delta', 'two'],
    ['agent_reasoning', 'one'],
    ['agent_reasoning', 'two'],
    ['agent_reasoning_raw_content_delta', 'deep'],
    ['agent_reasoning_raw_content', 'deep'],
    ['plan_update', undefined],
    ['mcp_tool_call_begin', undefined],
    ['mcp_tool_call_end', { Err: 'gone' }],
    ['stream_error', 'stream error: cut; retry 2 in 5ms…'],
    ['background_event', 'careful'],
    ['error', 'broke'],
    ['task_complete', undefined],
  ])
})
