import { expect, test } from 'vitest'
import { TranscriptFold } from './transcript-fold.ts'

const PROMPT = `prm_${'0'.repeat(26)}`
const OTHER = `prm_${'1'.repeat(26)}`
const AT = '2026-11-18T00:00:00.000Z'
const memory = (entry: object, conversation = 'cnv_1') => ({ type: 'memory', conversation, entry })
const started = (prompt_id: string, text = 'hello') => ({
  type: 'turn_started',
  at: AT,
  prompt_id,
  number: 1,
  by: 'ann',
  text,
  engine: 'mini',
  model: 'm',
  resumed: false,
})
const ended = (prompt_id: string) => ({ type: 'turn_ended', at: AT, prompt_id, status: 'completed', code: null, message: 'Hi.' })
const INPUT = memory({ type: 'input', item: {} })
const end = (kind: string, more = {}) => memory({ type: 'turn_ended', end: { kind, ...more } })
const said = (text: string) =>
  memory({ type: 'item', group: 1, item: { type: 'message', content: [{ type: 'output_text', text }] } })

const fold = (...lines: readonly unknown[]): TranscriptFold => {
  const folded = new TranscriptFold(1_000)
  for (const line of lines) folded.take(typeof line === 'string' ? line : JSON.stringify(line))
  return folded
}

test.each([
  ['nothing is there', [], { kind: 'unsaid' }],
  ['its turn has not begun', [started(OTHER), INPUT, end('completed', { message: 'x' })], { kind: 'unsaid' }],
  ['the engine has not heard of it', [started(OTHER), INPUT, started(PROMPT)], { kind: 'unsaid' }],
  ['it was said', [started(PROMPT), INPUT], { kind: 'said' }],
  ['it was interrupted by our own end', [started(PROMPT), INPUT, end('interrupted')], { kind: 'said' }],
  ['it went on after a restart', [started(PROMPT), INPUT, end('interrupted'), started(PROMPT), INPUT], { kind: 'said' }],
  [
    'the last message was said and nothing followed',
    [started(PROMPT), INPUT, said('Hi.')],
    { kind: 'ended', outcome: { status: 'completed', code: null, message: 'Hi.' }, isTold: false },
  ],
  [
    'the engine failed',
    [started(PROMPT), INPUT, end('failed', { code: 'budget_tokens', message: 'used up' })],
    { kind: 'ended', outcome: { status: 'failed', code: 'budget_tokens', message: 'used up' }, isTold: false },
  ],
  [
    'the end was told',
    [started(PROMPT), INPUT, ended(PROMPT)],
    { kind: 'ended', outcome: { status: 'completed', code: null, message: 'Hi.' }, isTold: true },
  ],
  ['another conversation began since', [started(PROMPT), INPUT, memory({ type: 'opened' }, 'cnv_2')], { kind: 'unsaid' }],
  ['a line cannot be read', ['{', '{"type":"later"}', started(PROMPT), INPUT], { kind: 'said' }],
])('what is left of a prompt when %s', (_when, lines, left) => {
  expect(fold(...lines).left(PROMPT)).toEqual(left)
})

test('only the newest conversation counts, and what was said before a prompt is kept up to a bound', () => {
  const first = [memory({ type: 'opened' }), started(OTHER, 'a'.repeat(900)), { type: 'message', at: AT, text: 'b'.repeat(200) }]
  const folded = fold(...first, memory({ type: 'opened', seq: 2 }, 'cnv_2'), started(PROMPT, 'now'))
  expect(folded.conversation).toBe('cnv_2')
  expect(folded.entries).toEqual([{ type: 'opened', seq: 2 }])
  expect(folded.talkBefore(PROMPT)).toBe(`you: ${'b'.repeat(200)}`)
})
