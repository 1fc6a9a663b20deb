import type { JsonObject } from '@parley/protocol'
import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { ScenarioAnswer, Scenario, Step } from '../scenario.ts'
import { MCP_HELLO, UNKNOWN_ID, WITH_TOOLS } from './opening.ts'

const PATCH = '*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch'
const FREE = { cwd: '$WORK/plain', 'approval-policy': 'never', sandbox: 'danger-full-access' }
const ASKING = { cwd: '$WORK/plain', 'approval-policy': 'on-request', sandbox: 'read-only' }

const codex = (args: JsonObject): JsonObject => ({ name: 'codex', arguments: args })
const escalated: ScenarioAnswer = [{ run: ['touch', 'made.txt'], escalate: 'A file is wanted.' }]

function scenario(name: string, model: readonly ScenarioAnswer[], steps: readonly Step[]): Scenario {
  return { name, server: 'tools', versions: WITH_TOOLS, settings: 'loopback', model, steps: [...MCP_HELLO, ...steps] }
}

const reply = (version: ObservedVersion, prompt: string, id = '$first.structuredContent.threadId'): JsonObject => ({
  name: 'codex-reply',
  arguments: version === '0.153.4' ? { threadId: id, prompt } : { conversationId: id, prompt },
})

/** Ends a call that was begun and whose answer the client is asked about first. */
const asked = (params: JsonObject, decision: string): readonly Step[] => [
  { begin: 'tools/call', params, as: 'call' },
  { reply: 'elicitation/create', result: { decision } },
  { finish: 'call' },
]

/** A call whose command is answered with `abort` is never answered itself, by no version. */
const aborted = (params: JsonObject): readonly Step[] => [
  { unanswered: 'tools/call', params },
  { reply: 'elicitation/create', result: { decision: 'abort' } },
  { until: 'codex/event', event: 'turn_aborted' },
  { ask: 'ping' },
]

/** What clients of the MCP server did: list, call, be asked, go on, fail. */
export const toolScenarios = (version: ObservedVersion): readonly Scenario[] => [
  scenario('tool-list', [], [{ ask: 'ping' }, { ask: 'tools/list' }, { bad: 'no/such' }, ...MCP_HELLO]),
  scenario(
    'tool-text',
    [[{ think: 'A greeting is wanted.' }, { say: 'Hello, and good day.' }]],
    [{ ask: 'tools/call', params: codex({ prompt: 'Say hello.', ...FREE }), as: 'first' }],
  ),
  scenario(
    'tool-exec',
    [[{ run: ['sh', '-c', 'echo out; exit 3'] }], [{ say: 'It failed.' }]],
    [{ ask: 'tools/call', params: codex({ prompt: 'Run it.', ...FREE }), as: 'first' }],
  ),
  ...(['approved', 'denied', 'abort'] as const).flatMap((decision) => {
    const call = codex({ prompt: 'Do it.', ...ASKING })
    const steps = decision === 'abort' ? aborted(call) : asked(call, decision)
    return [
      scenario(`tool-exec-${decision}`, [escalated, [{ say: 'That is that.' }]], steps),
      scenario(`tool-patch-${decision}`, [[{ patch: PATCH }], [{ say: 'That is that.' }]], steps),
    ]
  }),
  scenario(
    'tool-exec-accept',
    [escalated, [{ say: 'That is that.' }]],
    [
      { begin: 'tools/call', params: codex({ prompt: 'Do it.', ...ASKING }), as: 'call' },
      // What MCP itself says; real Codex takes it for a denial.
      { reply: 'elicitation/create', result: { action: 'accept', content: {} } },
      { finish: 'call' },
    ],
  ),
  scenario(
    'tool-reply',
    [[{ say: 'Hello.' }], [{ say: 'Hello again.' }]],
    [
      { begin: 'tools/call', params: codex({ prompt: 'Say hello.', ...FREE }), as: 'first' },
      { until: 'codex/event', event: 'session_configured', as: 'session' },
      { finish: 'first' },
      { ask: 'tools/call', params: reply(version, 'Again.', '$session.msg.session_id') },
    ],
  ),
  scenario(
    'tool-parallel',
    [[{ say: 'Hello.' }], [{ say: 'Hello.' }]],
    [
      { begin: 'tools/call', params: codex({ prompt: 'Say hello.', ...FREE }), as: 'first' },
      { begin: 'tools/call', params: codex({ prompt: 'Say hello.', ...FREE }), as: 'second' },
      { finish: 'first' },
      { finish: 'second' },
    ],
  ),
  scenario(
    'tool-errors',
    [],
    [
      { ask: 'tools/call', params: { name: 'nope', arguments: {} } },
      { ask: 'tools/call', params: { name: 'codex' } },
      { ask: 'tools/call', params: codex({ prompt: 'x', model: 5 }) },
      { ask: 'tools/call', params: codex({ prompt: 'x', config: { profile: 'missing' } }) },
      { ask: 'tools/call', params: { name: 'codex-reply' } },
      { ask: 'tools/call', params: reply(version, 'x', UNKNOWN_ID) },
      { ask: 'tools/call', params: reply(version, 'x', 'no-uuid') },
    ],
  ),
  scenario(
    'tool-failure',
    [{ refuse: 'the model failed' }],
    [{ ask: 'tools/call', params: codex({ prompt: 'Say hello.', ...FREE }) }],
  ),
]
