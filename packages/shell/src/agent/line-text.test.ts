import { ApprovalId, type TranscriptLine } from '@parley/protocol'
import { expect, test } from 'vitest'
import { lineText } from './line-text.ts'

const AT = '2026-11-18T00:00:00.000Z'
const call = 'c'
const APPROVAL = ApprovalId.parse(`apr_${'0'.repeat(26)}`)

test.each<[TranscriptLine, string | undefined]>([
  [{ type: 'message', at: AT, text: 'one\ntwo \u001b[31mred' }, 'one\ntwo red'],
  [{ type: 'reasoning', at: AT, text: 'hm\nhm' }, '~ hm hm'],
  [{ type: 'tool', at: AT, call, mount: 'files', tool: 'read', arguments: { path: 'a' } }, '+ files_read {"path":"a"}'],
  [{ type: 'tool', at: AT, call, mount: null, tool: 'read_file', arguments: {} }, '+ read_file {}'],
  [{ type: 'tool_ended', at: AT, call, status: 'completed', result: {}, error: null, duration_ms: 1 }, undefined],
  [{ type: 'tool_ended', at: AT, call, status: 'declined', result: null, error: 'no', duration_ms: 1 }, '  declined: no'],
  [{ type: 'command', at: AT, call, argv: ['bash', '-lc', 'ls -l'], folder: '/' }, '$ ls -l'],
  [{ type: 'command', at: AT, call, argv: ['git', 'log'], folder: '/' }, '$ git log'],
  [
    { type: 'command_ended', at: AT, call, status: 'failed', exit_code: 2, output: 'no\nsuch', duration_ms: 1 },
    '  failed with 2: no such',
  ],
  [{ type: 'patch', at: AT, call, changes: [{ path: 'a', kind: 'add', moved_to: null, diff: '+a' }] }, '* add a'],
  [{ type: 'warning', at: AT, message: 'w'.repeat(200) }, `warning: ${'w'.repeat(150)}…`],
  [
    {
      type: 'asked',
      at: AT,
      approval_id: APPROVAL,
      kind: 'command',
      mount: null,
      name: 'bash',
      reason: 'no rule covers this call',
    },
    `? command bash waits for a person: parley approvals approve ${APPROVAL} (no rule covers this call)`,
  ],
  [{ type: 'memory', conversation: 'x', entry: { type: 'item' } }, undefined],
  [{ type: 'plan', at: AT, explanation: null, steps: [{ step: 'a', status: 'completed' }] }, 'plan: [x] a'],
])('%j', (line, text) => {
  expect(lineText(line)).toBe(text)
})
