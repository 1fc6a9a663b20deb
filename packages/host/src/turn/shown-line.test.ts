import { TranscriptLine } from '@parley/protocol'
import { expect, test } from 'vitest'
import { maskTexts } from '../mount/masked-secrets.ts'
import { composedOrigin } from './event-line.ts'
import { shownLine } from './shown-line.ts'

const AT = '2026-11-18T00:00:00.000Z'
const LIMITS = { textChars: 100, lineChars: 1_000 }
const mask = maskTexts(['tool_ended', 's3cr3t'])
const shown = (line: TranscriptLine): unknown => TranscriptLine.parse(JSON.parse(shownLine(line, mask, LIMITS)))

test('secrets are taken out wherever they stand, but a line stays what it is', () => {
  const result = { content: [{ type: 'text', text: 'it is s3cr3t' }], deep: [{ er: ['s3cr3t!'] }] }
  expect(shown({ type: 'tool_ended', at: AT, call: 'c', status: 'completed', result, error: 's3cr3t', duration_ms: 1 })).toEqual({
    type: 'tool_ended',
    at: AT,
    call: 'c',
    status: 'completed',
    result: { content: [{ type: 'text', text: 'it is ••••' }], deep: [{ er: ['••••!'] }] },
    error: '••••',
    duration_ms: 1,
  })
})

test('a long text is cut with a word on how much is missing, never in the middle of a character', () => {
  expect(shown({ type: 'message', at: AT, text: `${'a'.repeat(99)}😀b` })).toEqual({
    type: 'message',
    at: AT,
    text: `${'a'.repeat(99)}… (cut: 3 more characters)`,
  })
})

test('many texts are cut shorter until the line fits, and a line that never does is left out with words', () => {
  const many = (count: number): TranscriptLine => ({
    type: 'command',
    at: AT,
    call: 'c',
    argv: Array(count).fill('x'.repeat(90)),
    folder: '/',
  })
  const cut = shownLine(many(20), mask, LIMITS)
  expect(cut.length).toBeLessThanOrEqual(1_000)
  expect(JSON.parse(cut)).toMatchObject({ type: 'command', argv: expect.arrayContaining([expect.stringContaining('cut: ')]) })
  expect(shown(many(1_000))).toEqual({ type: 'warning', at: AT, message: 'a line of type command is left out: it is too long' })
})

test.each([
  ['files_read_all', { mount: 'files', tool: 'read_all' }],
  ['plain_tool', { mount: 'one', tool: 'plain_tool' }],
  ['_odd', { mount: 'one', tool: '_odd' }],
])('%s lives where the compositor says', (tool, origin) => {
  const mounts = [
    { name: 'files', isPlain: false },
    { name: 'one', isPlain: true },
  ]
  expect(composedOrigin(tool, mounts)).toEqual(origin)
  expect(composedOrigin('tools_search', [])).toEqual({ mount: null, tool: 'tools_search' })
})
