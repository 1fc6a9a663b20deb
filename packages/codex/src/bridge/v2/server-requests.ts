import type { ApprovalDecision, ApprovalRequest } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { objectOf, objectsIn, textOf, textOrNull } from './fields.ts'
import { argvOf } from './shell-words.ts'
import type { Thread } from './thread.ts'

/** What stands behind the answers to Codex's questions. */
export interface Answering {
  readonly thread: Thread
  /** Codex's own id for the request. */
  readonly id: string
  /** Asks whoever listens to the conversation. */
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalDecision>
  /** Ends the turn: what an abort means where Codex has no word for it. */
  readonly interrupt: () => void
  readonly warn: (message: string) => void
}

const DECISIONS: Readonly<Record<ApprovalDecision, string>> = {
  approved: 'accept',
  approved_for_session: 'acceptForSession',
  denied: 'decline',
  abort: 'cancel',
}

/** Answers one request of Codex. What nobody knows is answered with an error, and nothing is left hanging. */
export function answerRequest(method: string, params: JsonObject, answering: Answering): Promise<JsonValue> | JsonValue {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return approveCommand(params, answering)
    case 'item/fileChange/requestApproval':
      return approvePatch(params, answering)
    case 'item/permissions/requestApproval':
      return approvePermissions(params, answering)
    case 'mcpServer/elicitation/request':
      return elicit(params, answering)
    case 'item/tool/requestUserInput':
      return declineQuestions(params, answering)
    case 'item/tool/call':
      return { success: false, contentItems: [{ type: 'inputText', text: 'There is no such tool in this conversation.' }] }
    default:
      throw new RemoteFailure('method_not_found', `${method} is not answered here`)
  }
}

async function approveCommand(params: JsonObject, { thread, id, approve }: Answering): Promise<JsonValue> {
  const call = textOf(params, 'itemId')
  const shown = thread.turn?.commands.get(call)
  const line = textOrNull(params, 'command')
  const decision = await approve({
    id: `${call}#${id}`,
    call,
    reason: reasonOf(params),
    kind: 'command',
    argv: line === null ? (shown?.argv ?? []) : argvOf(line),
    folder: textOrNull(params, 'cwd') ?? shown?.folder ?? '',
  })
  return { decision: DECISIONS[decision] }
}

function reasonOf(params: JsonObject): string | null {
  const reason = textOrNull(params, 'reason')
  const host = textOf(objectOf(params, 'networkApprovalContext'), 'host')
  if (host === '') return reason
  return reason === null ? `wants to reach ${host}` : `${reason} (wants to reach ${host})`
}

async function approvePatch(params: JsonObject, { thread, id, approve }: Answering): Promise<JsonValue> {
  const call = textOf(params, 'itemId')
  const decision = await approve({
    id: `${call}#${id}`,
    call,
    reason: textOrNull(params, 'reason'),
    kind: 'patch',
    changes: thread.turn?.changes.get(call) ?? [],
    grantRoot: textOrNull(params, 'grantRoot'),
  })
  return { decision: DECISIONS[decision] }
}

/** The model asks for more than its sandbox allows. Nothing granted is a denial. */
async function approvePermissions(params: JsonObject, { id, approve, interrupt }: Answering): Promise<JsonValue> {
  const call = textOf(params, 'itemId')
  const permissions = objectOf(params, 'permissions')
  const reason = textOrNull(params, 'reason')
  const asked = { kind: 'tool', mount: null, tool: 'request_permissions', arguments: permissions } as const
  const decision = await approve({ id: `${call}#${id}`, call, reason, ...asked })
  if (decision === 'abort') interrupt()
  if (decision === 'denied' || decision === 'abort') return { permissions: {}, scope: 'turn' }
  const granted = Object.fromEntries(Object.entries(permissions).filter(([, value]) => value !== null))
  return { permissions: granted, scope: decision === 'approved' ? 'turn' : 'session' }
}

/** Either Codex's own question whether a mounted tool may be called, or one of the mounted server. */
async function elicit(params: JsonObject, answering: Answering): Promise<JsonValue> {
  const { thread, id, approve, interrupt, warn } = answering
  const mount = textOf(params, 'serverName')
  const meta = objectOf(params, '_meta')
  const message = textOf(params, 'message')
  if (textOf(meta, 'codex_approval_kind') !== 'mcp_tool_call') {
    warn(`${mount} asked a question that nobody can answer here, and was told so: ${message}`)
    return { action: 'decline', content: null, _meta: null }
  }
  const tool = /run tool "([^"]*)"/.exec(message)?.[1] ?? textOf(meta, 'tool_title')
  const key = JSON.stringify([mount, tool])
  if (thread.approvedTools.has(key)) return { action: 'accept', content: {}, _meta: null }
  const running = [...(thread.turn?.tools ?? [])].filter(([, one]) => one.mount === mount && (tool === '' || one.tool === tool))
  const [call, named] = running.at(-1) ?? [`elicitation-${id}`, { mount, tool }]
  const asked = { kind: 'tool', mount, tool: named.tool, arguments: meta['tool_params'] ?? {} } as const
  const decision = await approve({ id: `${call}#${id}`, call, reason: message === '' ? null : message, ...asked })
  if (decision === 'approved_for_session') thread.approvedTools.add(key)
  if (decision === 'approved' || decision === 'approved_for_session') return { action: 'accept', content: {}, _meta: null }
  // A cancelled call alone would let the turn go on.
  if (decision === 'abort') interrupt()
  return { action: decision === 'abort' ? 'cancel' : 'decline', content: null, _meta: null }
}

function declineQuestions(params: JsonObject, { warn }: Answering): JsonValue {
  warn('the model asked questions that nobody can answer here, and was told so')
  const declined = { answers: ['(There is nobody who can answer. Go on without it.)'] }
  const ids = objectsIn(params, 'questions').map((question) => textOf(question, 'id'))
  return { answers: Object.fromEntries(ids.map((question) => [question, declined])) }
}
