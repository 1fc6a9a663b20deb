import { type JsonObject, isJsonObject } from '@parley/protocol'
import { type Violation, checkFunctions, shown, strictFault, violation } from './violation.ts'

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/** The first thing that the real Chat Completions API would refuse; it is checked in every request. */
export function checkChat(body: JsonObject): Violation | undefined {
  if (typeof body['model'] !== 'string') return violation("Missing required parameter: 'model'.", 'model')
  if (body['stream'] !== true) return violation('This server streams: stream must be true.', 'stream')
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isJsonObject) : []
  if (messages.length === 0) return violation("Missing required parameter: 'messages'.", 'messages')
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  const functions = tools.map((tool, index) => ({
    at: `tools[${index}].function`,
    declared: isJsonObject(tool['function']) ? tool['function'] : {},
  }))
  return checkFunctions(functions) ?? checkFormat(body) ?? checkMessages(messages) ?? checkCalls(messages)
}

function checkFormat(body: JsonObject): Violation | undefined {
  const format = isJsonObject(body['response_format']) ? body['response_format']['json_schema'] : undefined
  if (!isJsonObject(format) || format['strict'] !== true || !isJsonObject(format['schema'])) return undefined
  const fault = strictFault(format['schema'], [])
  return fault === undefined
    ? undefined
    : violation(`Invalid schema for response_format '${shown(format['name'])}': ${fault}`, 'response_format')
}

function checkMessages(messages: readonly JsonObject[]): Violation | undefined {
  for (const [index, message] of messages.entries()) {
    const { role, content } = { role: message['role'], content: message['content'] }
    const at = `messages[${index}]`
    if (typeof role !== 'string' || !ROLES.has(role)) return violation(`Invalid value: '${shown(role)}'.`, `${at}.role`)
    const hasCalls = Array.isArray(message['tool_calls'])
    const mayBeEmpty = role === 'assistant' && (hasCalls || typeof message['refusal'] === 'string')
    if (typeof content !== 'string' && !Array.isArray(content) && !(mayBeEmpty && (content === null || content === undefined)))
      return violation(`Invalid value for 'content': expected a string, got ${shown(content)}.`, `${at}.content`)
    if (!Array.isArray(content)) continue
    const types = content.map((part) => (isJsonObject(part) ? part['type'] : undefined))
    const allowed = role === 'user' ? ['text', 'image_url'] : ['text']
    const odd = types.find((type) => typeof type !== 'string' || !allowed.includes(type))
    if (odd !== undefined || types.length === 0)
      return violation(`Invalid content type '${shown(odd)}' for a message with role '${role}'.`, `${at}.content`)
  }
  return undefined
}

function checkCalls(messages: readonly JsonObject[]): Violation | undefined {
  const open = new Set<unknown>()
  const unanswered = (): Violation =>
    violation(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      'messages',
    )
  for (const message of messages) {
    if (message['role'] === 'tool') {
      if (!open.delete(message['tool_call_id']))
        return violation(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        )
      continue
    }
    if (open.size > 0) return unanswered()
    for (const call of Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) {
      const id = isJsonObject(call) ? call['id'] : undefined
      if (typeof id !== 'string' || id === '' || open.has(id))
        return violation(`Invalid tool call id '${shown(id)}'.`, 'messages')
      open.add(id)
    }
  }
  return open.size > 0 ? unanswered() : undefined
}
