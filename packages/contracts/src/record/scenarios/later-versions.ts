import type { Scenario, Step } from '../scenario.ts'
import { APP_HELLO, UNKNOWN_ID } from './opening.ts'

const ITEMS = [{ type: 'text', data: { text: 'hi' } }]
const FULL = { mode: 'danger-full-access' }

const steps: readonly Step[] = [
  { ask: 'getUserAgent' },
  { bad: 'initialize', params: {} },
  ...APP_HELLO,
  { ask: 'initialize', params: { clientInfo: { name: 'recorder', version: '1.0.0' } } },
  { ask: 'newConversation', params: {} },
  { ask: 'addConversationListener', params: { conversationId: UNKNOWN_ID } },
  { ask: 'removeConversationListener', params: { subscriptionId: UNKNOWN_ID } },
  { ask: 'sendUserMessage', params: { conversationId: UNKNOWN_ID, items: ITEMS } },
  {
    ask: 'sendUserTurn',
    params: {
      conversationId: UNKNOWN_ID,
      items: ITEMS,
      cwd: '$WORK/plain',
      approvalPolicy: 'never',
      sandboxPolicy: FULL,
      model: 'gpt-5',
      summary: 'auto',
    },
  },
  { ask: 'interruptConversation', params: { conversationId: UNKNOWN_ID } },
  { ask: 'listConversations', params: { pageSize: 1 } },
  { ask: 'resumeConversation', params: { path: '$HOME/sessions/missing.jsonl' } },
  { ask: 'archiveConversation', params: { conversationId: UNKNOWN_ID, rolloutPath: '$HOME/sessions/missing.jsonl' } },
  { ask: 'getUserSavedConfig' },
  { ask: 'setDefaultModel', params: { model: 'gpt-5' } },
  { ask: 'getUserAgent' },
  { ask: 'userInfo' },
  { ask: 'loginApiKey', params: { apiKey: 'sk-of-nobody' } },
  { ask: 'loginChatGpt' },
  { ask: 'cancelLoginChatGpt', params: { loginId: UNKNOWN_ID } },
  { ask: 'logoutChatGpt' },
  { ask: 'getAuthStatus', params: {} },
  { ask: 'getAuthStatus', params: { includeToken: true, refreshToken: false } },
  { bad: 'getAuthStatus', params: { includeToken: 'yes' } },
  { bad: 'getAuthStatus' },
  { ask: 'gitDiffToRemote', params: { cwd: '$WORK/repo' } },
  { ask: 'gitDiffToRemote', params: { cwd: '$WORK/plain' } },
  { bad: 'gitDiffToRemote', params: {} },
  { ask: 'execOneOffCommand', params: { command: ['true'], sandboxPolicy: FULL } },
  { ask: 'fuzzyFileSearch', params: { query: 'rank', roots: ['$WORK/repo'] } },
  { ask: 'fuzzyFileSearch', params: { query: 'zzzz', roots: ['$WORK/repo'], cancellationToken: 'one' } },
  { bad: 'fuzzyFileSearch', params: { query: 'rank' } },
  { bad: 'noSuchMethod', params: {} },
]

/** What a client of the 23 methods gets from an app-server that came after them. */
export const laterScenarios = (): readonly Scenario[] => [
  {
    name: 'old-methods',
    server: 'methods',
    versions: ['0.153.4', '0.166.0'],
    settings: 'loopback',
    model: [],
    steps,
  },
  {
    name: 'old-account',
    server: 'methods',
    versions: ['0.153.4', '0.166.0'],
    settings: 'openai',
    model: [],
    steps: [...APP_HELLO, { ask: 'getAuthStatus', params: { includeToken: true } }],
  },
  {
    name: 'later-turn',
    server: 'methods',
    versions: ['0.153.4', '0.166.0'],
    settings: 'loopback',
    model: [
      [{ run: ['touch', 'made.txt'], escalate: 'A file is wanted.' }],
      [{ patch: '*** Begin Patch\n*** Add File: written.txt\n+hello\n*** End Patch' }],
      [{ say: 'Both are there.' }],
    ],
    steps: [
      ...APP_HELLO,
      {
        ask: 'thread/start',
        params: { cwd: '$WORK/plain', approvalPolicy: 'on-request', sandbox: 'read-only' },
        as: 'started',
      },
      { until: 'thread/started' },
      {
        ask: 'turn/start',
        params: { threadId: '$started.thread.id', input: [{ type: 'text', text: 'Make two files.' }] },
      },
      { reply: 'item/commandExecution/requestApproval', result: { decision: 'accept' } },
      { reply: 'item/fileChange/requestApproval', result: { decision: 'accept' } },
      { until: 'turn/completed' },
    ],
  },
]
