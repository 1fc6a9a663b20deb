import type { EngineEvent } from '@parley/agent'
import type { TranscriptLine } from '@parley/protocol'

/** A tool where it lives. */
export interface ToolOrigin {
  readonly mount: string | null
  readonly tool: string
}

/** What happened in a conversation as a line that says the same whatever the engine is; pieces and what only engines need have none. */
export function eventLine(
  event: EngineEvent,
  at: string,
  originOf: (tool: ToolOrigin) => ToolOrigin,
): TranscriptLine | undefined {
  switch (event.type) {
    case 'message':
    case 'reasoning':
      return event.text === '' ? undefined : { type: event.type, at, text: event.text }
    case 'plan':
      return { type: 'plan', at, explanation: event.explanation, steps: event.steps.map((step) => ({ ...step })) }
    case 'tool_begin': {
      const { mount, tool } = originOf(event)
      return { type: 'tool', at, call: event.call, mount, tool, arguments: event.arguments }
    }
    case 'tool_end': {
      const { call, status, result, error, durationMs } = event
      return { type: 'tool_ended', at, call, status, result, error, duration_ms: durationMs }
    }
    case 'command_begin':
      return { type: 'command', at, call: event.call, argv: [...event.argv], folder: event.folder }
    case 'command_end': {
      const { call, status, exitCode, output, durationMs } = event
      return { type: 'command_ended', at, call, status, exit_code: exitCode, output, duration_ms: durationMs }
    }
    case 'patch_begin': {
      const changes = event.changes.map(({ path, kind, movedTo, diff }) => ({ path, kind, moved_to: movedTo ?? null, diff }))
      return { type: 'patch', at, call: event.call, changes }
    }
    case 'patch_end':
      return { type: 'patch_ended', at, call: event.call, status: event.status, error: event.error }
    case 'usage':
      return { type: 'usage', at, call: event.call, usage: event.last, estimated: event.estimated }
    case 'retry':
      return { type: 'warning', at, message: `the model is asked again: ${event.reason}` }
    case 'compacted':
      return { type: 'compacted', at, before: event.before, after: event.after }
    case 'warning':
      return { type: 'warning', at, message: event.message }
    case 'turn_started':
    case 'turn_ended':
    case 'message_delta':
    case 'reasoning_delta':
    case 'reasoning_part':
    case 'tool_output':
    case 'command_output':
    case 'diff':
    case 'approval_requested':
    case 'approval_resolved':
      return undefined
  }
}

/** Lines that say that something begins: they need not wait for what the engine writes down. */
export const BEGINS: ReadonlySet<TranscriptLine['type']> = new Set(['tool', 'command', 'patch', 'warning'])

/**
 * Where a tool of the compositor lives. It shows `{mount}_{tool}`, and no name of a mount has a `_`, so the first one separates; what has no
 * such beginning is of the plain mount, or the compositor's own.
 */
export function composedOrigin(
  tool: string,
  mounts: readonly { readonly name: string; readonly isPlain: boolean }[],
): ToolOrigin {
  const at = tool.indexOf('_')
  const named = mounts.find(({ name, isPlain }) => !isPlain && at > 0 && name === tool.slice(0, at))
  if (named !== undefined) return { mount: named.name, tool: tool.slice(at + 1) }
  return { mount: mounts.find(({ isPlain }) => isPlain)?.name ?? null, tool }
}
