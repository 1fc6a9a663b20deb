import type { JsonObject, JsonValue } from '@parley/protocol'
import type { InputRequest } from '@parley/rpc'
import { withoutPolicy } from './shown/shown-result.ts'

/** Controls move the cursor of a terminal: with them a server could write over the line above its own. */
const CONTROL = /[^\P{Cc}\n\t]/gu
/** Many empty lines would move that line out of sight. */
const EMPTY_LINES = /\n(?:[^\S\n]*\n){2,}/g

/** A question as its client gets it. A person reads in the first line who asks, whatever the server writes below. */
export function namedQuestion(mount: string, request: InputRequest): InputRequest {
  const params = withoutPolicy(request.params ?? {})
  return { ...request, params: request.method === 'elicitation/create' ? namedElicitation(mount, params) : params }
}

/** The same for a page that a person is to visit. Its address stays as it is. */
export function namedElicitation(mount: string, params: JsonObject): JsonObject {
  return { ...params, message: `The server "${mount}" asks:\n${plainText(params.message)}` }
}

function plainText(message: JsonValue | undefined): string {
  if (typeof message !== 'string') return ''
  return message.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\u{fffd}').replaceAll(EMPTY_LINES, '\n\n').trimStart()
}
