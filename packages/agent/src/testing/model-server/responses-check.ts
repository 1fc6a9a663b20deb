import { type JsonObject, isJsonObject } from '@parley/protocol'
import { type Violation, checkFunctions, shown, strictFault, violation } from './violation.ts'

/** What this server gave out earlier, by id, and the reasoning that stood right before it. */
export interface Given {
  readonly item: JsonObject
  readonly reasoning: string | null
}

const KNOWN_ITEMS = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
])
const CALLS = new Set(['function_call', 'custom_tool_call'])
const OUTPUTS = new Set(['function_call_output', 'custom_tool_call_output'])
const REFUSED_FIELDS = ['previous_response_id', 'conversation', 'background']

/** The first thing that the real Responses API would refuse; it is checked in every request. */
export function checkResponses(body: JsonObject, given: ReadonlyMap<string, Given>): Violation | undefined {
  if (typeof body['model'] !== 'string') return violation("Missing required parameter: 'model'.", 'model')
  if (body['stream'] !== true) return violation('This server streams: stream must be true.', 'stream')
  if (body['store'] !== false) return violation('This server keeps nothing: store must be false.', 'store')
  const refused = REFUSED_FIELDS.find((field) => body[field] !== undefined)
  if (refused !== undefined) return violation(`Nothing is kept, so '${refused}' cannot be used.`, refused)
  const input = Array.isArray(body['input']) ? body['input'].filter(isJsonObject) : []
  if (input.length === 0) return violation("Missing required parameter: 'input'.", 'input')
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJsonObject) : []
  // Tools of the service's own and tools that take free text have rules that nobody here depends on.
  const functions = tools.filter((tool) => (tool['type'] ?? 'function') === 'function')
  return (
    checkFunctions(functions.map((declared, index) => ({ at: `tools[${index}]`, declared }))) ??
    checkFormat(body) ??
    checkItems(input) ??
    checkCalls(input) ??
    checkReasoning(input, given)
  )
}

function checkFormat(body: JsonObject): Violation | undefined {
  const format = isJsonObject(body['text']) ? body['text']['format'] : undefined
  if (!isJsonObject(format) || format['type'] !== 'json_schema') return undefined
  const fault = format['strict'] === true && isJsonObject(format['schema']) ? strictFault(format['schema'], []) : undefined
  if (fault === undefined) return undefined
  const words = `Invalid schema for response_format '${shown(format['name'])}': ${fault}`
  return violation(words, 'text.format.schema', 'invalid_json_schema')
}

const PARTS = new Set(['input_text', 'input_image', 'output_text', 'refusal'])

function checkItems(input: readonly JsonObject[]): Violation | undefined {
  for (const [index, item] of input.entries()) {
    const type = item['type'] ?? 'message'
    if (typeof type !== 'string' || !KNOWN_ITEMS.has(type))
      return violation(`Invalid value: '${shown(type)}'.`, `input[${index}].type`, 'invalid_value')
    if (type === 'reasoning' && !Array.isArray(item['summary']))
      return violation(`Missing required parameter: 'input[${index}].summary'.`, `input[${index}].summary`)
    const parts = OUTPUTS.has(type) ? item['output'] : item['content']
    if (OUTPUTS.has(type) && typeof parts !== 'string' && !Array.isArray(parts))
      return violation(`Missing required parameter: 'input[${index}].output'.`, `input[${index}].output`)
    if (type === 'reasoning' || !Array.isArray(parts)) continue
    const odd = parts.find((part) => !isJsonObject(part) || !PARTS.has(shown(part['type'])))
    if (odd !== undefined) return violation(`Invalid content part: ${JSON.stringify(odd)}`, `input[${index}].content`)
  }
  return undefined
}

function checkCalls(input: readonly JsonObject[]): Violation | undefined {
  const called = new Set<unknown>()
  const open = new Set<unknown>()
  for (const item of input) {
    const callId = item['call_id']
    const type = shown(item['type'])
    if (CALLS.has(type)) {
      if (called.has(callId)) return violation(`Duplicate function call with call_id ${shown(callId)}.`, 'input')
      called.add(callId)
      open.add(callId)
    } else if (OUTPUTS.has(type)) {
      if (!open.delete(callId))
        return violation(`No tool call found for function call output with call_id ${shown(callId)}.`, 'input')
    }
  }
  for (const callId of open) return violation(`No tool output found for function call ${shown(callId)}.`, 'input')
  return undefined
}

function checkReasoning(input: readonly JsonObject[], given: ReadonlyMap<string, Given>): Violation | undefined {
  for (const [index, item] of input.entries()) {
    const id = typeof item['id'] === 'string' ? item['id'] : undefined
    const known = id === undefined ? undefined : given.get(id)
    if (item['type'] === 'reasoning') {
      const next = input[index + 1]
      const isFollowed = next !== undefined && (CALLS.has(shown(next['type'])) || next['role'] === 'assistant')
      if (!isFollowed && next?.['type'] !== 'reasoning')
        return violation(`Item '${id ?? ''}' of type 'reasoning' was provided without its required following item.`, 'input')
      if (known !== undefined && known.item['encrypted_content'] !== item['encrypted_content'])
        return violation(`Item with id '${id ?? ''}' not found. Items are not persisted when \`store\` is set to false.`, 'input')
    } else if (known !== undefined) {
      const before = input[index - 1]?.['id']
      if (known.reasoning !== null && before !== known.reasoning) {
        const words = `Item '${id ?? ''}' of type '${shown(item['type'])}' was provided without its required 'reasoning' item: '${known.reasoning}'.`
        return violation(words, 'input')
      }
      if (item['type'] === 'function_call' && !isSameCall(item, known.item))
        return violation(`Item '${id ?? ''}' is not what was given.`, 'input')
    }
  }
  return undefined
}

const isSameCall = (one: JsonObject, other: JsonObject): boolean =>
  one['call_id'] === other['call_id'] && one['name'] === other['name'] && one['arguments'] === other['arguments']
