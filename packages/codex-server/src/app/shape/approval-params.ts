import type { ApprovalRequest } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { olderChange } from '../../event/0.44/words.ts'
import { changesByPath } from '../../event/file-changes.ts'
import type { AppDialect } from '../app-server-options.ts'

/** The request that asks a client. */
export interface ApprovalAsk {
  readonly method: 'execCommandApproval' | 'applyPatchApproval'
  readonly params: JsonObject
}

/** Names as 0.44 has them, and what 0.42 calls them. */
const SNAKE: Readonly<Record<string, string>> = {
  conversationId: 'conversation_id',
  callId: 'call_id',
  fileChanges: 'file_changes',
  grantRoot: 'grant_root',
}

/** Asks in a dialect's words. `folder` is that of the conversation. */
export function approvalAsk(dialect: AppDialect, conversationId: string, folder: string, request: ApprovalRequest): ApprovalAsk {
  const { method, params } = asked(conversationId, folder, request)
  if (dialect === '0.44') return { method, params }
  return { method, params: Object.fromEntries(Object.entries(params).map(([name, value]) => [SNAKE[name] ?? name, value])) }
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
