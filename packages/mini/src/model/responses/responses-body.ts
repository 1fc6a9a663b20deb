import type { JsonObject } from '@parley/protocol'
import type { ModelItem, ModelRequest, ModelTool } from '../model.ts'
import { instructionsWith, outputFormat } from '../output-schema.ts'
import type { Tolerance } from '../tolerance.ts'

const FORMAT_FIELD = 'text.format'

/** A request of the Responses API. It always holds the whole conversation: the provider keeps nothing for us. */
export function responsesBody(request: ModelRequest, tolerance: Tolerance): JsonObject {
  const format = outputFormat(request, tolerance, FORMAT_FIELD)
  const reasoning = reasoningOf(request, tolerance)
  const keeps = (field: Parameters<Tolerance['leavesOut']>[0]): boolean => !tolerance.leavesOut(field)
  return {
    model: request.model,
    instructions: instructionsWith(request, tolerance, FORMAT_FIELD),
    input: inputOf(request.input),
    ...(request.tools.length === 0 ? {} : toolsOf(request, tolerance)),
    store: false,
    stream: true,
    ...(keeps('include') ? { include: ['reasoning.encrypted_content'] } : {}),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(format === undefined ? {} : { text: { format: { type: 'json_schema', ...format } } }),
    ...(request.cacheKey !== undefined && keeps('prompt_cache_key') ? { prompt_cache_key: request.cacheKey } : {}),
    ...(request.maxOutputTokens !== undefined && keeps('max_output_tokens')
      ? { max_output_tokens: request.maxOutputTokens }
      : {}),
  }
}

function toolsOf({ tools, parallelToolCalls }: ModelRequest, tolerance: Tolerance): JsonObject {
  return {
    tools: declared(tools, tolerance),
    ...(tolerance.leavesOut('tool_choice') ? {} : { tool_choice: 'auto' }),
    ...(tolerance.leavesOut('parallel_tool_calls') ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

interface Declared {
  /** What the tolerance had learned. */
  readonly version: number
  readonly tools: JsonObject[]
}

/** Tools as they were declared last, by the list they came in and who they were for: all requests of a conversation have the same. */
const DECLARED = new WeakMap<Tolerance, WeakMap<readonly ModelTool[], Declared>>()

function declared(tools: readonly ModelTool[], tolerance: Tolerance): JsonObject[] {
  const lists = DECLARED.get(tolerance) ?? new WeakMap<readonly ModelTool[], Declared>()
  DECLARED.set(tolerance, lists)
  const known = lists.get(tools)
  if (known?.version === tolerance.version) return known.tools
  const fresh = tools.map((tool): JsonObject => {
    const { name, description, parameters } = tool
    // Some providers take a tool without the field as strict, so that it is always said.
    const strict = tolerance.leavesOut('strict') ? {} : { strict: tolerance.isStrict(tool) }
    return { type: 'function', name, description, parameters, ...strict }
  })
  lists.set(tools, { version: tolerance.version, tools: fresh })
  return fresh
}

function reasoningOf({ effort }: ModelRequest, tolerance: Tolerance): JsonObject | undefined {
  if (tolerance.leavesOut('reasoning')) return undefined
  const asked = {
    ...(effort === undefined || tolerance.leavesOut('reasoning.effort') ? {} : { effort }),
    ...(tolerance.leavesOut('reasoning.summary') ? {} : { summary: 'auto' }),
  }
  return Object.keys(asked).length === 0 ? undefined : asked
}

/** Items go back exactly as they came, save what only the other wire understands. */
function inputOf(items: readonly ModelItem[]): JsonObject[] {
  const sent: JsonObject[] = []
  // From the end, because whether reasoning may stay depends on what is kept after it.
  let next: JsonObject | undefined
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index]
    if (item === undefined || (item.type === 'reasoning' && (isForeign(item) || !mayStandBefore(next)))) continue
    next = item['chat'] === undefined ? item : withoutChat(item)
    sent.push(next)
  }
  return sent.reverse()
}

const withoutChat = ({ chat: _chat, ...item }: ModelItem): JsonObject => item

/** Reasoning from the chat wire has nothing by which this provider would know it. */
const isForeign = (item: JsonObject): boolean => item['id'] === undefined && item['encrypted_content'] === undefined

/** Reasoning without the item it led to is refused: it happens when an answer was nothing but reasoning. */
const mayStandBefore = (next: JsonObject | undefined): boolean =>
  next !== undefined && next['type'] !== 'function_call_output' && (next['role'] === undefined || next['role'] === 'assistant')
