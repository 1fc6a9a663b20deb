import { TOOL_ERROR_META, ToolError, type ToolErrorBody, wrongArgument } from '@parley/protocol'
import { JsonText } from '@parley/rpc'

/** What a tool of the compositor itself answers: for programs, and the same as text. */
export function toolAnswer(result: object): JsonText {
  const structured = JSON.stringify(result)
  return new JsonText(`{"content":[{"type":"text","text":${JSON.stringify(structured)}}],"structuredContent":${structured}}`)
}

/** A tool's own failure is a result that says so; anything else is the protocol's, and is thrown on. */
export function toolFailure(error: unknown): JsonText {
  if (!(error instanceof ToolError)) throw error
  const { code, message, field, hint } = error
  const body: ToolErrorBody = {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
  }
  const text = JSON.stringify(hint === undefined ? `${code}: ${message}` : `${code}: ${message} (${hint})`)
  return new JsonText(`{"content":[{"type":"text","text":${text}}],"isError":true}`, { [TOOL_ERROR_META]: body })
}

interface Issue {
  readonly code?: string | undefined
  readonly message: string
  readonly path: readonly PropertyKey[]
  readonly keys?: readonly string[]
}

/** The first thing that is wrong with arguments, by the name of its field. */
export function argumentFault(issues: readonly Issue[]): ToolError {
  const [issue] = issues
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined
  const field = unknown ?? (issue?.path ?? []).map(String).join('.')
  return wrongArgument(field, unknown === undefined ? (issue?.message ?? 'is wrong') : 'is not an argument of this tool')
}
