import type { ApprovalRequest } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { olderChange } from '../../event/0.44/words.ts'
import { changesByPath } from '../../event/file-changes.ts'
import type { DialectFacts } from '../dialect-facts.ts'

/** The request that asks a client. */
export interface ApprovalAsk {
  readonly method: 'execCommandApproval' | 'applyPatchApproval'
  readonly params: JsonObject
}

/** Asks in a dialect's words. `folder` is that of the conversation. */
export function approvalAsk(
  dialect: DialectFacts,
  conversationId: string,
  folder: string,
  request: ApprovalRequest,
): ApprovalAsk {
  const { method, params } = asked(conversationId, folder, request)
  return { method, params: dialect.named(params) }
}

function asked(conversationId: string, folder: string, request: ApprovalRequest): ApprovalAsk {
  const about = { conversationId, callId: request.call }
  const reason = request.reason ?? undefined
  if (request.kind === 'command')
    return { method: 'execCommandApproval', params: { ...about, command: [...request.argv], cwd: request.folder, reason } }
  if (request.kind === 'patch') {
    const fileChanges = changesByPath(request.changes, folder, olderChange)
    return { method: 'applyPatchApproval', params: { ...about, fileChanges, reason, grantRoot: request.grantRoot ?? undefined } }
  }
  // These versions ask about commands and patches alone, so a call of a tool is shown as a command.
  const { mount, tool } = request
  const name = mount === null ? tool : `mcp__${mount}__${tool}`
  const what = mount === null ? `calls the tool ${tool}` : `calls the tool ${tool} of the MCP server ${mount}`
  const command = [name, JSON.stringify(request.arguments)]
  return { method: 'execCommandApproval', params: { ...about, command, cwd: folder, reason: reason ?? what } }
}
