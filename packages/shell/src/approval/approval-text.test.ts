import { AgentId, type Approval, ApprovalId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { callText } from '../call-text.ts'
import { approvalLine, approvalText, decidedText, wholeText } from './approval-text.ts'

const AT = '2026-11-18T10:00:00.000Z'
const APPROVAL: Approval = {
  approval_id: ApprovalId.parse(`apr_${'0'.repeat(26)}`),
  agent_id: AgentId.parse(`agt_${'0'.repeat(26)}`),
  agent: 'mine',
  owner: 'ada',
  kind: 'tool',
  mount: 'm',
  name: 'make',
  preview: '{}',
  preview_sha256: '0'.repeat(64),
  masked: false,
  cut: false,
  caller: 'tok_1',
  reason: 'no rule covers it',
  rule: null,
  layer: null,
  votes: [],
  needed: 1,
  may_decide: true,
  edited_preview: null,
  status: 'pending',
  created_at: AT,
  expires_at: AT,
  caller_gone_at: null,
  decided: null,
  dispatched_at: null,
  ended_at: null,
}
const IO = { env: {}, now: () => Date.parse(AT), screen: () => undefined }

test('calls of different tools, clients and reasons never look the same', () => {
  const texts = ['make', 'make\n', '\u001b[2Kmake', 'ma\u200bke', 'm\u0430ke', 'make ', '\u202emake', 'make⟦U+000A⟧']
  for (const field of ['name', 'mount', 'caller', 'agent', 'owner', 'reason'] as const) {
    // What people read as a sentence may be written in any letters.
    const tried = texts.filter((text) => field !== 'reason' || !text.includes('\u0430'))
    const shown = tried.map((text) => approvalText({ ...APPROVAL, [field]: text }, IO))
    expect(new Set(shown).size).toBe(tried.length)
    for (const text of shown) expect(text).not.toMatch(/[^\P{C}\n]/u)
  }
  const named = texts.map((name) => ({ ...APPROVAL, name }))
  const decidedHere = (approval: Approval): string => decidedText(approval, IO)
  for (const made of [callText, approvalLine, decidedHere]) expect(new Set(named.map(made)).size).toBe(texts.length)
  expect(callText({ ...APPROVAL, name: 'make\n' })).toBe('tool m make⟦U+000A⟧')
})

test('what is hidden or left out is said, with the way to the whole', () => {
  const end = (more: Partial<Approval>) =>
    approvalText({ ...APPROVAL, ...more }, IO)
      .split('\n')
      .at(-1)
  const whole = `the whole: parley approvals show ${APPROVAL.approval_id} --whole`
  expect(end({})).toBe('{}')
  expect(end({ masked: true })).toBe(`Part of it is hidden; ${whole}`)
  expect(end({ cut: true })).toBe(`Part of it is left out; ${whole}`)
  expect(end({ masked: true, cut: true })).toBe(`Part of it is hidden or left out; ${whole}`)
  const sent = { ...APPROVAL, arguments_json: '{"a":"x\u202e"}' }
  expect(wholeText(sent)).toBe('{"a":"x⟦U+202E⟧"}')
  expect(wholeText({ ...sent, kind: 'proposal', preview: 'all of it' })).toBe('all of it')
})

test('it is said that nobody waits for it, and what a yes does then', () => {
  const left = { ...APPROVAL, caller_gone_at: AT }
  expect(approvalText(left, IO)).toMatch(/^caller +is gone; the same call again finds what is said to it$/m)
  expect(approvalText(APPROVAL, IO)).not.toContain('is gone')
  const decided = { by: 'ada', decision: 'approve' as const, reason: null, at: AT }
  expect(decidedText({ ...left, status: 'approved', decided }, IO)).toBe(
    'tool m make of mine is approved. Its caller is gone: it is sent when the agent makes the same call again.',
  )
})
