import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { Scenario, Step } from '../scenario.ts'
import { UNKNOWN_ID, WITH_METHODS, conversation, helloOf, turn } from './opening.ts'

const ID = '$conversation.conversationId'
/** A picture of one point; `dot.png` in the working folder is the same. */
export const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const text = (said: string) => [{ type: 'text', data: { text: said } }]
const POLICY = { mode: 'workspace-write', network_access: false, exclude_tmpdir_env_var: false, exclude_slash_tmp: false }
const TURN = {
  conversationId: ID,
  items: text('Say it again.'),
  cwd: '$WORK/plain',
  approvalPolicy: 'never',
  sandboxPolicy: POLICY,
  model: 'gpt-5',
  effort: 'medium',
  summary: 'auto',
}

const opening: readonly Step[] = [
  { ask: 'newConversation', params: {} },
  {
    ask: 'newConversation',
    params: {
      model: 'gpt-5-codex',
      profile: 'fast',
      cwd: '$WORK/plain',
      approvalPolicy: 'untrusted',
      sandbox: 'read-only',
      config: { model_reasoning_effort: 'low' },
      baseInstructions: 'Be short.',
      includePlanTool: true,
      includeApplyPatchTool: true,
    },
  },
  { ask: 'newConversation', params: { profile: 'fast' } },
  { ask: 'newConversation', params: { profile: 'missing' } },
  { bad: 'newConversation', params: { model: 123 } },
  { bad: 'newConversation', params: { approvalPolicy: 'sometimes' } },
  { bad: 'newConversation' },
]

const talking: readonly Step[] = [
  ...conversation(),
  { ask: 'addConversationListener', params: { conversationId: UNKNOWN_ID } },
  { bad: 'addConversationListener', params: { conversationId: 'no-uuid' } },
  ...turn('Say hello.'),
  {
    ask: 'sendUserMessage',
    params: {
      conversationId: ID,
      items: [
        ...text('And this?'),
        { type: 'image', data: { image_url: `data:image/png;base64,${DOT}` } },
        { type: 'localImage', data: { path: '$WORK/plain/dot.png' } },
      ],
    },
  },
  { until: 'codex/event/task_complete', event: 'task_complete' },
  { ask: 'sendUserMessage', params: { conversationId: UNKNOWN_ID, items: text('hi') } },
  { bad: 'sendUserMessage', params: { conversationId: ID, items: [{ type: 'text', text: 'flat' }] } },
  { bad: 'sendUserMessage', params: { conversationId: ID } },
  { ask: 'sendUserTurn', params: TURN },
  { until: 'codex/event/task_complete', event: 'task_complete' },
  { ask: 'sendUserTurn', params: { ...TURN, conversationId: UNKNOWN_ID } },
  { bad: 'sendUserTurn', params: { conversationId: ID, items: text('Only the declared fields.') } },
  { bad: 'sendUserTurn', params: { ...TURN, sandboxPolicy: 'read-only' } },
  { bad: 'sendUserTurn', params: { ...TURN, summary: 'always' } },
  { bad: 'sendUserTurn', params: { ...TURN, effort: 'extreme' } },
]

const keeping: readonly Step[] = [
  { ask: 'interruptConversation', params: { conversationId: UNKNOWN_ID } },
  { bad: 'interruptConversation', params: {} },
  { ask: 'listConversations', params: { pageSize: 1 }, as: 'page' },
  { ask: 'listConversations', params: {} },
  { ask: 'listConversations', params: { cursor: 'nonsense' } },
  { bad: 'listConversations' },
  { ask: 'resumeConversation', params: { path: '$conversation.rolloutPath' }, as: 'resumed' },
  { ask: 'resumeConversation', params: { path: '$HOME/sessions/missing.jsonl' } },
  { bad: 'resumeConversation', params: { conversationId: ID } },
  { ask: 'removeConversationListener', params: { subscriptionId: '$listener.subscriptionId' } },
  { ask: 'removeConversationListener', params: { subscriptionId: '$listener.subscriptionId' } },
  { bad: 'removeConversationListener', params: { subscriptionId: 'no-uuid' } },
  { ask: 'archiveConversation', params: { conversationId: ID, rolloutPath: '$WORK/repo/ranking.txt' } },
  { bad: 'archiveConversation', params: { conversationId: ID } },
  { ask: 'archiveConversation', params: { conversationId: ID, rolloutPath: '$conversation.rolloutPath' } },
  { ask: 'listConversations', params: { pageSize: 5 } },
]

/** Opening, talking, listing, resuming and archiving, well and badly. */
export const conversationScenarios = (version: ObservedVersion): readonly Scenario[] => [
  {
    name: 'conversation-open',
    server: 'methods',
    versions: WITH_METHODS,
    settings: 'loopback',
    model: [],
    steps: [...helloOf(version), ...opening],
  },
  {
    name: 'conversation-talk',
    server: 'methods',
    versions: WITH_METHODS,
    settings: 'loopback',
    model: [[{ say: 'Hello.' }], [{ say: 'A picture.' }], [{ say: 'Hello again.' }]],
    steps: [...helloOf(version), ...talking],
  },
  {
    name: 'conversation-keep',
    server: 'methods',
    versions: WITH_METHODS,
    settings: 'loopback',
    model: [[{ say: 'Hello.' }]],
    steps: [...helloOf(version), ...conversation(), ...turn('Say hello.'), ...keeping],
  },
  {
    name: 'interrupt-idle',
    server: 'methods',
    versions: WITH_METHODS,
    settings: 'loopback',
    model: [],
    steps: [
      ...helloOf(version),
      ...conversation(),
      { unanswered: 'interruptConversation', params: { conversationId: ID } },
      { ask: 'getUserAgent' },
    ],
  },
]
