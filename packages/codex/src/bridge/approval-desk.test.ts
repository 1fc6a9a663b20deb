import type { ApprovalReply, ApprovalRequest, EngineEvent } from '@parley/agent'
import { expect, test } from 'vitest'
import { BridgeApprovals } from './approval-desk.ts'

const REQUEST: ApprovalRequest = { id: 'a', call: 'c', reason: null, kind: 'command', argv: ['ls'], folder: '/' }

async function said(reply: ApprovalReply): Promise<unknown> {
  const told: EngineEvent[] = []
  const desk = new BridgeApprovals({ event: () => undefined, approve: () => Promise.resolve(reply) }, (event) => told.push(event))
  const decision = await desk.ask(REQUEST, new AbortController().signal)
  expect(told.at(-1)).toEqual({ type: 'approval_resolved', id: 'a', decision })
  return decision
}

test('a Codex takes a decision and nothing else: what somebody wants otherwise is not done as it was', async () => {
  expect(await said('approved')).toBe('approved')
  expect(await said({ decision: 'approved', reason: 'fine' })).toBe('approved')
  expect(await said({ decision: 'approved', arguments: { command: ['ls', '-l'] } })).toBe('denied')
})
