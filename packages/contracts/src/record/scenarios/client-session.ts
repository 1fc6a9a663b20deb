import type { Scenario } from '../scenario.ts'
import { APP_HELLO, conversation, turn } from './opening.ts'

const ID = '$conversation.conversationId'

/** A day in the life of an editor extension: sign-in looked up, a conversation with approvals, stopped, listed, resumed, archived. */
export const clientScenarios = (): readonly Scenario[] => [
  {
    name: 'client-session',
    server: 'methods',
    versions: ['0.44.0'],
    settings: 'loopback',
    model: [
      [{ think: 'A file is wanted.' }, { run: ['touch', 'made.txt'] }],
      [{ patch: '*** Begin Patch\n*** Add File: written.txt\n+hello\n*** End Patch' }],
      [{ say: 'Both are there.' }],
      [{ run: ['rm', 'made.txt'] }],
      [{ say: 'Then not.' }],
      { stall: 'Hold on' },
      [{ say: 'Where were we?' }],
    ],
    steps: [
      ...APP_HELLO,
      { ask: 'getAuthStatus', params: { includeToken: true, refreshToken: false } },
      { ask: 'getUserSavedConfig' },
      ...conversation({ approvalPolicy: 'untrusted' }),
      ...turn('Make two files.', [
        { reply: 'execCommandApproval', result: { decision: 'approved' } },
        { reply: 'applyPatchApproval', result: { decision: 'approved' } },
      ]),
      ...turn('Remove one.', [{ reply: 'execCommandApproval', result: { decision: 'denied' } }]),
      { ask: 'sendUserMessage', params: { conversationId: ID, items: [{ type: 'text', data: { text: 'Wait.' } }] } },
      { until: 'codex/event/agent_message_delta', event: 'agent_message_delta', text: 'Hold on' },
      { ask: 'interruptConversation', params: { conversationId: ID } },
      { ask: 'removeConversationListener', params: { subscriptionId: '$listener.subscriptionId' } },
      { ask: 'listConversations', params: { pageSize: 10 }, as: 'list' },
      { ask: 'archiveConversation', params: { conversationId: ID, rolloutPath: '$list.items.0.path' } },
    ],
  },
  {
    name: 'client-resume',
    server: 'methods',
    versions: ['0.44.0'],
    settings: 'loopback',
    model: [[{ say: 'Hello.' }], [{ say: 'Hello again.' }]],
    steps: [
      ...APP_HELLO,
      {
        ask: 'newConversation',
        params: { cwd: '$WORK/plain', approvalPolicy: 'never', sandbox: 'danger-full-access' },
        as: 'before',
      },
      { ask: 'addConversationListener', params: { conversationId: '$before.conversationId' }, as: 'early' },
      {
        ask: 'sendUserMessage',
        params: { conversationId: '$before.conversationId', items: [{ type: 'text', data: { text: 'Say hello.' } }] },
      },
      { until: 'codex/event/task_complete' },
      { ask: 'removeConversationListener', params: { subscriptionId: '$early.subscriptionId' } },
      { ask: 'resumeConversation', params: { path: '$before.rolloutPath' }, as: 'conversation' },
      { ask: 'addConversationListener', params: { conversationId: ID }, as: 'listener' },
      ...turn('Again.'),
    ],
  },
]
