import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { Scenario, ScenarioSettings, Step } from '../scenario.ts'
import { MCP_HELLO, UNKNOWN_ID, WITH_METHODS, helloOf } from './opening.ts'

/** 0.42 answers before any greeting. */
const mcpHandshake: readonly Step[] = [
  { ask: 'getUserAgent' },
  ...MCP_HELLO,
  ...MCP_HELLO,
  { bad: 'noSuchMethod', params: {} },
  { ask: 'ping' },
]

const appHandshake: readonly Step[] = [
  { ask: 'getUserAgent' },
  { bad: 'initialize', params: {} },
  { ask: 'initialize', params: { clientInfo: { name: 'recorder', title: 'Recorder', version: '1.0.0' } } },
  { tell: 'initialized' },
  { ask: 'initialize', params: { clientInfo: { name: 'recorder', version: '1.0.0' } } },
  { bad: 'noSuchMethod', params: {} },
  { bad: 'tools/list' },
  { ask: 'getUserAgent' },
]

const settings: readonly Step[] = [
  { ask: 'getUserSavedConfig' },
  { ask: 'setDefaultModel', params: { model: 'gpt-5-codex', reasoningEffort: 'high' } },
  { ask: 'getUserSavedConfig' },
  { ask: 'setDefaultModel', params: {} },
  { ask: 'getUserSavedConfig' },
  { ask: 'setDefaultModel', params: { model: null, reasoningEffort: null } },
  { bad: 'setDefaultModel', params: { model: 5 } },
  { bad: 'setDefaultModel', params: { reasoningEffort: 'extreme' } },
  { bad: 'setDefaultModel' },
  { ask: 'getUserAgent' },
  { ask: 'userInfo' },
]

/** 0.42 does not look at params where none are wanted; 0.44 wants none, null or `{}`. */
const noParams = (version: ObservedVersion): readonly Step[] =>
  ['getUserAgent', 'userInfo', 'getUserSavedConfig'].flatMap((method): readonly Step[] => [
    { ask: method, params: {} },
    { ask: method, params: null },
    version === '0.42.0' ? { ask: method, params: { more: true } } : { bad: method, params: { more: true } },
  ])

const account: readonly Step[] = [
  { ask: 'getAuthStatus', params: {} },
  { bad: 'getAuthStatus' },
  { bad: 'getAuthStatus', params: { includeToken: 'yes' } },
  { bad: 'loginApiKey', params: {} },
  { bad: 'loginApiKey', params: { apiKey: 5 } },
  { ask: 'loginApiKey', params: { apiKey: 'sk-of-nobody' } },
  { until: 'authStatusChange' },
  { ask: 'getAuthStatus', params: {} },
  { ask: 'getAuthStatus', params: { includeToken: true, refreshToken: false } },
  { ask: 'userInfo' },
  { ask: 'logoutChatGpt' },
  { until: 'authStatusChange' },
  { ask: 'getAuthStatus', params: { includeToken: true } },
  { ask: 'logoutChatGpt' },
  { until: 'authStatusChange' },
]

const signIn: readonly Step[] = [
  { ask: 'loginChatGpt', as: 'first' },
  { ask: 'loginChatGpt', as: 'second' },
  { until: 'loginChatGptComplete' },
  { ask: 'cancelLoginChatGpt', params: { loginId: UNKNOWN_ID } },
  { bad: 'cancelLoginChatGpt', params: { loginId: 'no-uuid' } },
  { ask: 'cancelLoginChatGpt', params: { loginId: '$second.loginId' } },
  { until: 'loginChatGptComplete' },
  { ask: 'cancelLoginChatGpt', params: { loginId: '$second.loginId' } },
]

const FULL = { mode: 'danger-full-access' }
const workspace = (version: ObservedVersion): readonly Step[] => [
  { ask: 'gitDiffToRemote', params: { cwd: '$WORK/repo' } },
  { ask: 'gitDiffToRemote', params: { cwd: '$WORK/plain' } },
  { bad: 'gitDiffToRemote', params: {} },
  {
    ask: 'execOneOffCommand',
    params: { command: ['sh', '-c', 'echo o; echo e >&2; exit 3'], timeoutMs: 5000, cwd: '$WORK/plain', sandboxPolicy: FULL },
  },
  { ask: 'execOneOffCommand', params: { command: [], sandboxPolicy: FULL } },
  { ask: 'execOneOffCommand', params: { command: ['sleep', '5'], timeoutMs: 50, sandboxPolicy: FULL } },
  { ask: 'execOneOffCommand', params: { command: ['no-such-program'], sandboxPolicy: FULL } },
  { bad: 'execOneOffCommand', params: { command: 'echo hi' } },
  { bad: 'execOneOffCommand', params: { command: ['true'], sandboxPolicy: 'read-only' } },
  ...fileSearch(version),
]

function fileSearch(version: ObservedVersion): readonly Step[] {
  const found = { query: 'rank', roots: ['$WORK/repo'] }
  if (version === '0.42.0') return [{ unanswered: 'fuzzyFileSearch', params: found }, { ask: 'getUserAgent' }]
  return [
    { ask: 'fuzzyFileSearch', params: found },
    { ask: 'fuzzyFileSearch', params: { query: 'zzzz', roots: ['$WORK/repo'], cancellationToken: 'one' } },
    { bad: 'fuzzyFileSearch', params: { query: 'rank' } },
  ]
}

/** All that is about no conversation: the greeting, the settings, the account, the working folder. */
export const serviceScenarios = (version: ObservedVersion): readonly Scenario[] => {
  const scenario = (name: string, kind: ScenarioSettings, steps: readonly Step[]): Scenario => ({
    name,
    server: 'methods',
    versions: WITH_METHODS,
    settings: kind,
    model: [],
    steps: name === 'handshake' ? steps : [...helloOf(version), ...steps],
  })
  return [
    scenario('handshake', 'loopback', version === '0.42.0' ? mcpHandshake : appHandshake),
    scenario('settings', 'saved', settings),
    scenario('no-params', 'loopback', noParams(version)),
    scenario('settings-empty', 'openai', [{ ask: 'getUserSavedConfig' }, { ask: 'userInfo' }]),
    scenario('settings-plain', 'loopback', [
      { ask: 'setDefaultModel', params: { model: 'gpt-5-codex', reasoningEffort: 'high' } },
      { ask: 'getUserSavedConfig' },
      { ask: 'setDefaultModel', params: {} },
      { ask: 'getUserSavedConfig' },
    ]),
    scenario('account', 'openai', account),
    scenario('account-loopback', 'loopback', [{ ask: 'getAuthStatus', params: { includeToken: true } }]),
    scenario('sign-in', 'openai', signIn),
    scenario('workspace', 'loopback', workspace(version)),
  ]
}
