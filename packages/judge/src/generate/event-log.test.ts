import type { EngineEvent } from '@parley/agent'
import { expect, test } from 'vitest'
import type { StatusLine } from '../tester.ts'
import { CleanVoice } from './clean-voice.ts'
import { EventLog } from './event-log.ts'
import { Redactor } from './redact.ts'

const KEY = 'sk-0123456789abcdef'

function open(attempt = 1, batchChars = 600, batchMs = 60_000) {
  const lines: StatusLine[] = []
  const terminal: string[] = []
  const voice = { status: (line: StatusLine) => `${lines.push(line)}`, terminal: (text: string) => void terminal.push(text) }
  const redactor = new Redactor([KEY])
  const log = new EventLog({ voice, redactor, attempt, batchChars, batchMs })
  const take = (...events: EngineEvent[]): void => {
    for (const event of events) log.take(event)
  }
  return { lines, terminal: () => terminal.join(''), log, take, voice, redactor }
}

const delta = (text: string, item = 'm1'): EngineEvent => ({ type: 'message_delta', item, delta: text })
const output = (call: string, bytes: Uint8Array): EngineEvent => ({ type: 'command_output', call, stream: 'stdout', bytes })

test('pieces of a message are put together up to a size, and the rest comes at the end', () => {
  const { lines, take } = open(1, 10)
  take(...'abcdefghijklmno'.split('').map((char) => delta(char)), { type: 'message', item: 'm1', text: 'abcdefghijklmno' })
  take({ type: 'turn_ended', turn: 't', end: { kind: 'completed', message: '' } })
  expect(lines.map(({ kind, delta: text, stage }) => [kind, text, stage])).toEqual([
    ['agent_message_delta', 'abcdefghij', 'coding'],
    ['agent_message_delta', 'klmno', 'coding'],
  ])
})

test('an answer that comes in one piece makes many lines, and no character is torn', () => {
  const { lines, take } = open()
  const text = `x${'😀'.repeat(200_000)}`
  take(delta(text), { type: 'turn_ended', turn: 't', end: { kind: 'completed', message: '' } })
  const parts = lines.map((line) => line.delta ?? '')
  expect(parts.join('') === text).toBe(true)
  expect(parts.every((part) => part.isWellFormed() && part.length <= 16_000)).toBe(true)
})

test('after a while what waits goes out by itself', async () => {
  const { lines, take } = open(2, 600, 5)
  take(delta('so far'))
  await expect.poll(() => lines).toMatchObject([{ kind: 'agent_message_delta', delta: 'so far', stage: 'repair' }])
})

test('the order of what happens is kept between pieces, parts and calls', () => {
  const { lines, take } = open()
  take(
    { type: 'reasoning_delta', item: 'r', part: 0, delta: 'think', raw: false },
    { type: 'reasoning_part', item: 'r', part: 1 },
    { type: 'reasoning_delta', item: 'r', part: 1, delta: 'more', raw: false },
    delta('say'),
    { type: 'tool_begin', call: 'c1', mount: null, tool: 'read_file', arguments: { path: 'a' } },
    { type: 'tool_end', call: 'c1', status: 'failed', result: null, error: 'no such file', durationMs: 3 },
    { type: 'tool_begin', call: 'c2', mount: 'realmoi-status', tool: 'status.update', arguments: {} },
    { type: 'tool_end', call: 'c2', status: 'completed', result: {}, error: null, durationMs: 1 },
    {
      type: 'plan',
      explanation: null,
      steps: [
        { step: 'read', status: 'completed' },
        { step: 'write', status: 'in_progress' },
      ],
    },
    { type: 'retry', attempt: 2, most: 15, waitMs: 500, brief: 'the model’s server failed (500)', reason: 'HTTP 500: sorry' },
    { type: 'patch_begin', call: 'p', changes: [{ path: 'x.cpp', kind: 'add', diff: '' }] },
    { type: 'patch_end', call: 'p', status: 'completed', error: null },
    { type: 'turn_ended', turn: 't', end: { kind: 'interrupted' } },
  )
  expect(
    lines.map(({ level, summary, kind, delta: text }) => (kind === undefined ? `${level} ${summary}` : `${kind} ${text}`)),
  ).toEqual([
    'reasoning_summary_delta think',
    'reasoning_summary_boundary ',
    'reasoning_summary_delta more',
    'agent_message_delta say',
    'info calls read_file',
    'warn read_file failed: no such file',
    'info write',
    'warn the model’s server failed (500), trying again in 1 s (try 2 of 15)',
    'info changes files: add x.cpp',
    'info files changed',
  ])
  expect(lines[1]).toMatchObject({ meta: { summary_index: 1 } })
})

test('output of commands goes to the terminal whole, with characters and secrets that a border cuts', () => {
  const { lines, terminal, take } = open()
  const bytes = Buffer.from(`ä ${KEY} 🎈 end`)
  take({ type: 'command_begin', call: 'c', argv: ['cat', KEY], folder: '/w' })
  for (const byte of bytes) take(output('c', Uint8Array.of(byte)))
  take({ type: 'command_end', call: 'c', status: 'completed', exitCode: 0, output: '', durationMs: 1 })
  expect(terminal()).toBe('$ cat ***\nä *** 🎈 end')
  const told = lines
    .filter(({ kind }) => kind === 'command_output_delta')
    .map(({ delta: text }) => text)
    .join('')
  expect(told).toBe('ä *** 🎈 end')
  expect(JSON.stringify(lines)).not.toContain(KEY)
})

test('what an engine says of itself in two pieces hides a secret too', () => {
  const { lines, voice, redactor } = open()
  const clean = new CleanVoice(voice, redactor, () => {})
  const say = (text: string) => clean.status({ stage: 'coding', level: 'info', summary: '', kind: 'other', delta: text })
  expect([say(`a ${KEY.slice(0, 6)}`), say(`${KEY.slice(6)} b`), say('sk-0')]).toEqual(['1', '2', '3'])
  clean.end()
  expect(lines.map(({ delta: text }) => text)).toEqual(['a ', '*** b', '', 'sk-0'])
})

test('of a secret that a cut would part, not even the beginning is told', () => {
  const { lines, take } = open()
  const long = `${'x'.repeat(190)} ${KEY} ${'y'.repeat(2_000)}`
  take(
    { type: 'tool_begin', call: 'c', mount: null, tool: 'read_file', arguments: { path: 'z'.repeat(1_975) + KEY } },
    { type: 'plan', explanation: long, steps: [] },
    { type: 'command_begin', call: 'd', argv: [long], folder: '/w' },
    { type: 'warning', message: 'w'.repeat(1_990) + KEY },
  )
  expect(lines).toHaveLength(4)
  expect(JSON.stringify(lines)).not.toContain(KEY.slice(0, 4))
})
