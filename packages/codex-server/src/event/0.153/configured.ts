import type { JsonObject } from '@parley/protocol'
import type { BackedConversation, EventMessage, OpenOrder } from '@parley/codex/port'

/** What Codex itself does where nothing is set. */
const DEFAULT_POLICY = 'on-request'
const DEFAULT_PROVIDER = 'openai'

/** How a conversation begins, with what was set for it. */
export function configuredMessage(conversation: BackedConversation, order: OpenOrder): EventMessage {
  const provider = order.config?.['model_provider']
  return {
    type: 'session_configured',
    session_id: conversation.id,
    thread_id: conversation.id,
    model: conversation.model,
    model_provider_id: typeof provider === 'string' ? provider : DEFAULT_PROVIDER,
    approval_policy: order.approvalPolicy ?? DEFAULT_POLICY,
    approvals_reviewer: 'user',
    permission_profile: permissionProfile(order),
    cwd: order.folder,
    reasoning_effort: conversation.effort ?? undefined,
    initial_messages: conversation.initialMessages.length === 0 ? undefined : [...conversation.initialMessages],
    rollout_path: conversation.rolloutPath,
  }
}

function permissionProfile({ sandbox, folder, network }: OpenOrder): JsonObject {
  if (sandbox === 'danger-full-access') return { type: 'disabled' }
  const entries: JsonObject[] = [{ path: special('root'), access: 'read' }]
  if (sandbox === 'workspace-write') {
    if (folder !== undefined) entries.push({ path: { type: 'path', path: folder }, access: 'write' })
    entries.push({ path: special('slash_tmp'), access: 'write' }, { path: special('tmpdir'), access: 'write' })
  }
  const file_system = { type: 'restricted', entries }
  return { type: 'managed', file_system, network: network === true ? 'enabled' : 'restricted' }
}

const special = (kind: string): JsonObject => ({ type: 'special', value: { kind } })
