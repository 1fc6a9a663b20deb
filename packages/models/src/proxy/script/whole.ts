import { type JsonObject, type JsonValue, type ModelWire, isJsonObject } from '@parley/protocol'

/** The events of a stream as the one document that a client gets who did not ask for a stream. */
export function wholeAnswer(events: readonly JsonObject[], wire: ModelWire): JsonObject {
  return wire === 'responses' ? wholeResponse(events) : wholeCompletion(events)
}

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

function wholeResponse(events: readonly JsonObject[]): JsonObject {
  const last = events.findLast(({ type }) => ENDS.has(type))?.['response']
  const response = isJsonObject(last) ? last : {}
  const { output } = response
  if (Array.isArray(output) && output.length > 0) return { object: 'response', ...response }
  const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' && item !== undefined ? [item] : []))
  return { object: 'response', ...response, output: items }
}

function wholeCompletion(events: readonly JsonObject[]): JsonObject {
  const [first = {}] = events
  const message: JsonObject = { role: 'assistant', content: null }
  let finish: JsonValue = null
  let usage: JsonValue = null
  for (const { choices, usage: told } of events) {
    usage = told ?? usage
    const [choice] = Array.isArray(choices) ? choices : []
    if (!isJsonObject(choice)) continue
    finish = choice['finish_reason'] ?? finish
    if (isJsonObject(choice['delta'])) addDelta(message, choice['delta'])
  }
  return { ...first, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage }
}

/** Texts grow, tool calls grow each at its own place, everything else is as it was told last. */
function addDelta(message: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = message[name]
    if (name === 'tool_calls' && Array.isArray(value)) message[name] = mergedCalls(Array.isArray(before) ? before : [], value)
    else if (isJsonObject(value)) message[name] = merged(isJsonObject(before) ? before : {}, value)
    else if (GROWING.has(name) && typeof value === 'string') message[name] = (typeof before === 'string' ? before : '') + value
    else if (value !== null && value !== undefined) message[name] = value
  }
}
const GROWING: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning', 'arguments', 'input'])

function merged(before: JsonObject, delta: JsonObject): JsonObject {
  const whole = { ...before }
  addDelta(whole, delta)
  return whole
}

function mergedCalls(before: readonly JsonValue[], deltas: readonly JsonValue[]): JsonValue[] {
  const calls = [...before]
  for (const delta of deltas) {
    if (!isJsonObject(delta)) continue
    const { index, ...rest } = delta
    const place = typeof index === 'number' ? index : calls.length
    const known = calls[place]
    calls[place] = merged(isJsonObject(known) ? known : {}, rest)
  }
  return calls.filter((call) => call !== undefined)
}
