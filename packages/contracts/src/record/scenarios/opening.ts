import type { ObservedVersion } from '../../registry/registry-types.ts'
import type { Step } from '../scenario.ts'

export const UNKNOWN_ID = '00000000-0000-7000-8000-999999999999'
const CLIENT = { name: 'recorder', title: 'Recorder', version: '1.0.0' }

/** The versions whose servers have the 23 methods. */
export const WITH_METHODS: readonly ObservedVersion[] = ['0.42.0', '0.44.0']
/** The versions that serve the tools `codex` and `codex-reply`. */
export const WITH_TOOLS: readonly ObservedVersion[] = ['0.42.0', '0.44.0', '0.153.4']

/** How a client says hello to the app-server of 0.43 and later. */
export const APP_HELLO: readonly Step[] = [{ ask: 'initialize', params: { clientInfo: CLIENT } }, { tell: 'initialized' }]

/** How a client says hello to an MCP server. 0.42 serves the 23 methods without it; clients say it all the same. */
export const MCP_HELLO: readonly Step[] = [
  {
    ask: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: { elicitation: {} }, clientInfo: CLIENT },
  },
  { tell: 'notifications/initialized' },
]

export const helloOf = (version: ObservedVersion): readonly Step[] => (version === '0.42.0' ? MCP_HELLO : APP_HELLO)

/** A conversation that listens, with everything allowed unless told otherwise. */
export function conversation(params: Readonly<Record<string, string | boolean>> = {}): readonly Step[] {
  const all = { cwd: '$WORK/plain', approvalPolicy: 'never', sandbox: 'danger-full-access', ...params }
  return [
    { ask: 'newConversation', params: all, as: 'conversation' },
    { ask: 'addConversationListener', params: { conversationId: '$conversation.conversationId' }, as: 'listener' },
  ]
}

/** One turn from the first event to the last. */
export function turn(text: string, between: readonly Step[] = []): readonly Step[] {
  const items = [{ type: 'text', data: { text } }]
  return [
    { ask: 'sendUserMessage', params: { conversationId: '$conversation.conversationId', items } },
    ...between,
    { until: 'codex/event/task_complete', event: 'task_complete' },
  ]
}
