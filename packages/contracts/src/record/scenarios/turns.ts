import type { JsonValue } from '@parley/protocol'
import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { ScenarioAnswer, Scenario, Step } from '../scenario.ts'
import { WITH_METHODS, conversation, helloOf, turn } from './opening.ts'

const patchOf = (name: string): string => `*** Begin Patch\n*** Add File: ${name}\n+hello\n*** End Patch`
const UPDATE = `*** Begin Patch\n*** Update File: first.txt\n@@\n-hello\n+goodbye\n*** End Patch`
const DECISIONS = ['approved', 'approved_for_session', 'denied', 'abort', 'allow', 'deny'] as const

const scenario = (
  version: ObservedVersion,
  name: string,
  model: readonly ScenarioAnswer[],
  steps: readonly Step[],
): Scenario => ({
  name,
  server: 'methods',
  versions: WITH_METHODS,
  settings: name === 'turn-tool' ? 'tools' : 'loopback',
  model,
  steps: [...helloOf(version), ...steps],
})

/** A turn of each kind, on its own. */
export const turnScenarios = (version: ObservedVersion): readonly Scenario[] => [
  scenario(
    version,
    'turn-text',
    [[{ think: 'A greeting is wanted.' }, { say: 'Hello, and good day.' }]],
    [...conversation(), ...turn('Say hello.')],
  ),
  scenario(
    version,
    'turn-exec',
    // One stream a command: what comes first of two is a matter of luck.
    [[{ run: ['sh', '-c', 'echo out; exit 3'] }], [{ run: ['sh', '-c', 'echo err >&2'] }], [{ say: 'It failed.' }]],
    [...conversation(), ...turn('Run it.')],
  ),
  scenario(
    version,
    'turn-patch',
    [[{ patch: patchOf('first.txt') }], [{ patch: UPDATE }], [{ say: 'Written.' }]],
    [...conversation(), ...turn('Write it.')],
  ),
  scenario(
    version,
    'turn-tool',
    [[{ use: 'echo', server: 'contract', arguments: { text: 'hi' } }], [{ say: 'It said hi.' }]],
    [...conversation(), ...turn('Use the tool.')],
  ),
  scenario(
    version,
    'turn-plan',
    [[{ plan: [{ step: 'Say hello.', status: 'in_progress' }] }], [{ say: 'Hello.' }]],
    [...conversation({ includePlanTool: true }), ...turn('Plan it.')],
  ),
  scenario(
    version,
    'turn-failure',
    [{ refuse: 'the model failed' }],
    [...conversation(), ...turn('Say hello.', [{ until: 'codex/event/error', event: 'error' }])],
  ),
  scenario(
    version,
    'turn-interrupt',
    [{ stall: 'Hold on' }],
    [
      ...conversation(),
      {
        ask: 'sendUserMessage',
        params: { conversationId: '$conversation.conversationId', items: [{ type: 'text', data: { text: 'Wait.' } }] },
      },
      { until: 'codex/event/agent_message_delta' },
      { ask: 'interruptConversation', params: { conversationId: '$conversation.conversationId' } },
    ],
  ),
]

/** Each answer that a client may give when it is asked, the declared ones among them. */
export const approvalScenarios = (version: ObservedVersion): readonly Scenario[] =>
  DECISIONS.flatMap((decision) => [
    approval(version, `approval-exec-${decision}`, { run: ['touch', 'made.txt'] }, 'execCommandApproval', { decision }),
    approval(version, `approval-patch-${decision}`, { patch: patchOf('made.txt') }, 'applyPatchApproval', { decision }),
  ])

function approval(
  version: ObservedVersion,
  name: string,
  move: Exclude<ScenarioAnswer, { refuse: string } | { stall: string }>[number],
  asks: string,
  result: { readonly decision: string } & Record<string, JsonValue>,
): Scenario {
  const isAborted = result.decision === 'abort'
  const end: Step = isAborted
    ? { until: 'codex/event/turn_aborted', event: 'turn_aborted' }
    : { until: 'codex/event/task_complete', event: 'task_complete' }
  const items = [{ type: 'text', data: { text: 'Do it.' } }]
  return scenario(
    version,
    name,
    [[move], [{ say: 'That is that.' }]],
    [
      ...conversation({ approvalPolicy: 'untrusted' }),
      { ask: 'sendUserMessage', params: { conversationId: '$conversation.conversationId', items } },
      { reply: asks, result },
      end,
    ],
  )
}
