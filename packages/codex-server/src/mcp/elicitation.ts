import type { ApprovalDecision, ApprovalRequest } from '@parley/agent'
import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'
import { changesByPath } from '../event/file-changes.ts'
import { shellWords } from '../event/parsed-command.ts'
import type { DialectFacts } from './dialect-facts.ts'

export interface Asking {
  readonly dialect: DialectFacts
  readonly threadId: string
  /** Of the call that the turn belongs to, as text. */
  readonly requestId: string
  readonly eventId: string
  readonly folder: string | undefined
}

/** The parameters of `elicitation/create` for an approval, with the fields by which Codex's clients know it. */
export function elicitationOf(request: ApprovalRequest, asking: Asking): JsonObject {
  const { dialect, threadId, requestId, eventId, folder } = asking
  const frame = (message: string, kind: string): JsonObject => ({
    message,
    requestedSchema: { type: 'object', properties: {} },
    ...dialect.ofThread(threadId),
    codex_elicitation: kind,
    codex_mcp_tool_call_id: requestId,
    codex_event_id: eventId,
    codex_call_id: request.call,
  })
  switch (request.kind) {
    case 'command':
      return {
        ...frame(`Allow Codex to run \`${shellWords(request.argv)}\` in \`${request.folder}\`?`, 'exec-approval'),
        codex_command: [...request.argv],
        codex_cwd: request.folder,
        ...dialect.parsed(request.argv),
      }
    case 'patch':
      return {
        ...frame(withReason('Allow Codex to apply proposed code changes?', request), 'patch-approval'),
        ...(request.reason === null ? {} : { codex_reason: request.reason }),
        ...(request.grantRoot === null ? {} : { codex_grant_root: request.grantRoot }),
        codex_changes: changesByPath(request.changes, folder, dialect.change),
      }
    case 'tool':
      return {
        ...frame(withReason(`Allow Codex to call the tool \`${toolName(request)}\`?`, request), 'tool-approval'),
        codex_server: request.mount,
        codex_tool: request.tool,
        codex_arguments: request.arguments,
      }
    default:
      return request satisfies never
  }
}

/** Codex puts the reason of a patch first; that of a command is in the event before. */
const withReason = (question: string, { reason }: ApprovalRequest): string =>
  reason === null ? question : `${reason}\n${question}`

/** What is asked about, for people. */
export function subjectOf(request: ApprovalRequest): string {
  if (request.kind === 'command') return `the command \`${shellWords(request.argv)}\``
  if (request.kind === 'tool') return `the call of the tool \`${toolName(request)}\``
  return `the patch of ${request.changes.map(({ path }) => path).join(', ')}`
}

const toolName = ({ mount, tool }: Extract<ApprovalRequest, { kind: 'tool' }>): string =>
  mount === null ? tool : `${mount}.${tool}`

const DECISIONS: Readonly<Record<string, ApprovalDecision>> = {
  approved: 'approved',
  approved_for_session: 'approved_for_session',
  // The newer one offers to remember a prefix of the command; this once is what we can do of it.
  approved_execpolicy_amendment: 'approved',
  denied: 'denied',
  abort: 'abort',
}
const ACTIONS: Readonly<Record<string, ApprovalDecision>> = { accept: 'approved', decline: 'denied', cancel: 'abort' }

/** Reads Codex's own answer and that of the protocol. `undefined`: neither, and nobody may take it for a yes. */
export function decisionIn(answer: JsonObject): ApprovalDecision | undefined {
  if (answer['decision'] !== undefined) return wordOf(answer['decision'], DECISIONS)
  const action = wordOf(answer['action'], ACTIONS)
  const content = answer['content']
  if (action !== 'approved' || !isJsonObject(content) || content['decision'] === undefined) return action
  return wordOf(content['decision'], DECISIONS)
}

/** Some words come with details, as the only key of an object. */
function wordOf(value: JsonValue | undefined, words: Readonly<Record<string, ApprovalDecision>>): ApprovalDecision | undefined {
  const word = isJsonObject(value) ? Object.keys(value)[0] : value
  return typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : undefined
}
