import type { JsonObject } from '@parley/protocol'
import type { ModelRequest } from '../model.ts'
import { instructionsWith, outputFormat } from '../output-schema.ts'
import type { Tolerance } from '../tolerance.ts'
import { chatMessages } from './chat-messages.ts'

const FORMAT_FIELD = 'response_format'

/** A request of Chat Completions. */
export function chatBody(request: ModelRequest, tolerance: Tolerance): JsonObject {
  const keeps = (field: Parameters<Tolerance['leavesOut']>[0]): boolean => !tolerance.leavesOut(field)
  const format = outputFormat(request, tolerance, FORMAT_FIELD)
  const instructions = instructionsWith(request, tolerance, FORMAT_FIELD)
  return {
    model: request.model,
    messages: chatMessages(instructions, request.input, keeps('reasoning_content')),
    ...(request.tools.length === 0 ? {} : toolsOf(request, tolerance)),
    stream: true,
    ...(keeps('stream_options') ? { stream_options: { include_usage: true } } : {}),
    ...(format === undefined ? {} : { response_format: { type: 'json_schema', json_schema: format } }),
    ...(request.effort !== undefined && keeps('reasoning_effort') ? { reasoning_effort: request.effort } : {}),
    ...(request.cacheKey !== undefined && keeps('prompt_cache_key') ? { prompt_cache_key: request.cacheKey } : {}),
    ...lengthOf(request, tolerance),
  }
}

function toolsOf({ tools, parallelToolCalls }: ModelRequest, tolerance: Tolerance): JsonObject {
  const declared = tools.map((tool): JsonObject => {
    const { name, description, parameters } = tool
    const strict = tolerance.isStrict(tool) && !tolerance.leavesOut('strict') ? { strict: true } : {}
    return { type: 'function', function: { name, description, parameters, ...strict } }
  })
  return {
    tools: declared,
    ...(tolerance.leavesOut('tool_choice') ? {} : { tool_choice: 'auto' }),
    ...(tolerance.leavesOut('parallel_tool_calls') ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

/** The older name is what providers know that do not know the newer. */
function lengthOf({ maxOutputTokens }: ModelRequest, tolerance: Tolerance): JsonObject {
  if (maxOutputTokens === undefined) return {}
  return tolerance.leavesOut('max_completion_tokens')
    ? { max_tokens: maxOutputTokens }
    : { max_completion_tokens: maxOutputTokens }
}
