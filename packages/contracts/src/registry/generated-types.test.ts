import { expect, test } from 'vitest'
import type {
  AgentMessageMessage,
  DeclaredSendUserTurnParams,
  ExecCommandApprovalResult,
  NewConversationResult,
  SendUserTurnParams,
} from '../generated/index.ts'
import type { JsonSchema } from './registry-types.ts'
import { registry } from './registry.ts'
import { misfits } from './schema-check.ts'

const ID = '01a1e073-7a42-7000-8000-000000000001'
const observed = (name: 'sendUserTurn' | 'newConversation' | 'execCommandApproval') => registry.observed(name, '0.44.0')
const fits = (schema: JsonSchema | undefined, value: unknown) => misfits(schema ?? { not: {} }, value)

test('what the types allow, their schemas allow', () => {
  const turn: SendUserTurnParams = {
    conversationId: ID,
    items: [
      { type: 'text', data: { text: 'hi' } },
      { type: 'localImage', data: { path: '/a.png' } },
    ],
    cwd: '/w',
    approvalPolicy: 'never',
    sandboxPolicy: { mode: 'read-only' },
    model: 'gpt-5',
    summary: 'auto',
  }
  const opened: NewConversationResult = { conversationId: ID, model: 'gpt-5', rolloutPath: '/r.jsonl' }
  const answer: ExecCommandApprovalResult = { decision: 'approved_for_session' }
  const declared: DeclaredSendUserTurnParams = {
    conversationId: ID,
    items: [{ type: 'text', text: 'hi' }],
    sandboxPolicy: 'read-only',
  }
  const message: AgentMessageMessage = { type: 'agent_message', message: 'hi' }
  expect(fits(observed('sendUserTurn').request, turn)).toEqual([])
  expect(fits(observed('newConversation').response, opened)).toEqual([])
  expect(fits(observed('execCommandApproval').response, answer)).toEqual([])
  expect(fits(registry.declared('sendUserTurn').request, declared)).toEqual([])
  expect(fits(registry.observed('codex-event', '0.44.0').events?.['agent_message'], message)).toEqual([])
})

test('what the types refuse, their schemas refuse', () => {
  // @ts-expect-error the answer of the documents is none of the four
  const answer: ExecCommandApprovalResult = { decision: 'allow' }
  // @ts-expect-error the text of an item is in its data
  const item: SendUserTurnParams['items'][number] = { type: 'text', text: 'hi' }
  expect(fits(observed('execCommandApproval').response, answer)).not.toEqual([])
  expect(fits(observed('sendUserTurn').request, { items: [item] })).not.toEqual([])
})
