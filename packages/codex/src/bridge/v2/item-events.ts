import type { ActStatus, EngineEvent } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import { numberOrNull, objectOrNull, textOf, textOrNull, textsIn } from './fields.ts'
import { fileChangesOf } from './file-changes.ts'
import { argvOf } from './shell-words.ts'
import type { TurnNotes } from './thread.ts'

/** Output of a command that is kept to tell what was not told yet. */
const OUTPUT_CHARACTERS = 1024 * 1024

/** What the beginning of an item means. */
export function itemStarted(item: JsonObject, turn: TurnNotes): EngineEvent[] {
  const call = textOf(item, 'id')
  switch (textOf(item, 'type')) {
    case 'agentMessage':
      turn.unfinished.add(call)
      return []
    case 'commandExecution': {
      const command = { argv: argvOf(textOf(item, 'command')), folder: textOf(item, 'cwd') }
      turn.commands.set(call, command)
      return [{ type: 'command_begin', call, ...command }]
    }
    case 'fileChange': {
      const changes = fileChangesOf(item)
      turn.changes.set(call, changes)
      return [{ type: 'patch_begin', call, changes }]
    }
    case 'mcpToolCall': {
      const mount = textOf(item, 'server')
      const tool = textOf(item, 'tool')
      turn.tools.set(call, { mount, tool })
      return [{ type: 'tool_begin', call, mount, tool, arguments: item['arguments'] ?? null }]
    }
    default: {
      const own = ownTool(item)
      return own === undefined ? [] : [{ type: 'tool_begin', call, mount: null, ...own }]
    }
  }
}

/** What the end of an item means. */
export function itemCompleted(item: JsonObject, turn: TurnNotes): EngineEvent[] {
  const id = textOf(item, 'id')
  switch (textOf(item, 'type')) {
    case 'agentMessage':
      return messageEvents(id, textOf(item, 'text'), turn)
    case 'reasoning':
      return reasoningEvents(id, item, turn)
    case 'commandExecution':
      return commandEvents(id, item, turn)
    case 'fileChange': {
      const status = statusOf(item)
      const error =
        status === 'completed' ? null : status === 'declined' ? 'the patch was denied' : 'the patch could not be applied'
      return [{ type: 'patch_end', call: id, status, error }]
    }
    case 'mcpToolCall':
      turn.tools.delete(id)
      return [toolEnd(id, item, resultOf(item))]
    default:
      return ownTool(item) === undefined ? [] : [toolEnd(id, item, objectOrNull(item, 'result'))]
  }
}

function messageEvents(item: string, text: string, turn: TurnNotes): EngineEvent[] {
  turn.unfinished.delete(item)
  turn.lastMessage = text
  const rest = turn.rest(item, text)
  const message: EngineEvent = { type: 'message', item, text }
  return rest === '' ? [message] : [{ type: 'message_delta', item, delta: rest }, message]
}

function reasoningEvents(item: string, told: JsonObject, turn: TurnNotes): EngineEvent[] {
  const summary = textsIn(told, 'summary')
  const raw = summary.length === 0
  const text = (raw ? textsIn(told, 'content') : summary).join('\n\n')
  if (text === '') return []
  const whole: EngineEvent = { type: 'reasoning', item, text }
  return turn.told.has(item) ? [whole] : [{ type: 'reasoning_delta', item, part: 0, delta: text, raw }, whole]
}

/** Codex tells the output of a quick command at its end alone. */
function commandEvents(call: string, item: JsonObject, turn: TurnNotes): EngineEvent[] {
  const status = statusOf(item)
  const output = (textOrNull(item, 'aggregatedOutput') ?? turn.told.get(call) ?? '').slice(0, OUTPUT_CHARACTERS)
  const rest = turn.rest(call, output)
  const end: EngineEvent = {
    type: 'command_end',
    call,
    status,
    exitCode: status === 'declined' ? null : numberOrNull(item, 'exitCode'),
    output,
    durationMs: numberOrNull(item, 'durationMs') ?? 0,
  }
  return rest === '' ? [end] : [{ type: 'command_output', call, stream: 'stdout', bytes: Buffer.from(rest) }, end]
}

function toolEnd(call: string, item: JsonObject, result: JsonObject | null): EngineEvent {
  const told = objectOrNull(item, 'error')
  const status = statusOf(item)
  const error = told === null ? (status === 'completed' ? null : 'the call failed') : textOf(told, 'message')
  const declined = /rejected MCP tool call|cancelled MCP tool call/.test(error ?? '')
  const durationMs = numberOrNull(item, 'durationMs') ?? 0
  return {
    type: 'tool_end',
    call,
    status: declined ? 'declined' : status,
    result,
    error: result === null ? error : null,
    durationMs,
  }
}

/** As the server answered, without what it did not say. */
function resultOf(item: JsonObject): JsonObject | null {
  const result = objectOrNull(item, 'result')
  if (result === null) return null
  const { content = [], structuredContent = null } = result
  const isError = textOf(item, 'status') === 'failed'
  return { content, ...(structuredContent === null ? {} : { structuredContent }), ...(isError ? { isError } : {}) }
}

function statusOf(item: JsonObject): ActStatus {
  const status = textOf(item, 'status')
  if (status === 'declined') return 'declined'
  return status === 'failed' || item['success'] === false ? 'failed' : 'completed'
}

/** Tools of Codex's own that are neither commands nor patches. */
function ownTool(item: JsonObject): { readonly tool: string; readonly arguments: JsonValue } | undefined {
  switch (textOf(item, 'type')) {
    case 'webSearch':
      return { tool: 'web_search', arguments: { query: textOf(item, 'query') } }
    case 'imageView':
      return { tool: 'view_image', arguments: { path: textOf(item, 'path') } }
    case 'imageGeneration':
      return { tool: 'image_generation', arguments: { prompt: textOrNull(item, 'revisedPrompt') } }
    case 'sleep':
      return { tool: 'sleep', arguments: { duration_ms: numberOrNull(item, 'durationMs') } }
    case 'dynamicToolCall':
      return { tool: textOf(item, 'tool'), arguments: item['arguments'] ?? null }
    case 'collabAgentToolCall':
      return { tool: textOf(item, 'tool'), arguments: { prompt: textOrNull(item, 'prompt') } }
    default:
      return undefined
  }
}
