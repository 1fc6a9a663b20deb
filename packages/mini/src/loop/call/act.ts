import type { ActStatus, EngineEvent } from '@parley/agent'
import type { ToolResult } from '../../tool/toolbox.ts'
import type { PreparedCall, UnfitCall } from './prepare-call.ts'

/** How a call ended, for the event that says so. */
export interface ActEnd {
  readonly status: ActStatus
  /** Where it was made. */
  readonly result?: ToolResult
  readonly error: string | null
}

interface Telling {
  readonly emit: (event: EngineEvent) => void
  readonly now: () => number
}

/** Says that a call begins; what it answers says that it ended, and must be called once. */
export function beginAct(prepared: PreparedCall, { emit, now }: Telling): (end: ActEnd) => void {
  const { call, subject, bound, args } = prepared
  const startedAt = now()
  switch (subject.kind) {
    case 'command':
      emit({ type: 'command_begin', call: call.id, argv: subject.argv, folder: subject.folder })
      return ({ status, result, error }) =>
        emit({
          type: 'command_end',
          call: call.id,
          status,
          exitCode: result?.exitCode ?? null,
          output: result?.output ?? error ?? '',
          durationMs: now() - startedAt,
        })
    case 'patch':
      emit({ type: 'patch_begin', call: call.id, changes: subject.changes })
      return ({ status, error }) => emit({ type: 'patch_end', call: call.id, status, error })
    case 'tool':
      emit({ type: 'tool_begin', call: call.id, mount: bound.mount, tool: bound.tool, arguments: args })
      return ({ status, result, error }) =>
        emit({
          type: 'tool_end',
          call: call.id,
          status,
          result: result?.raw ?? null,
          error,
          durationMs: now() - startedAt,
        })
  }
}

/** A call that was never made is told as a tool that failed. */
export function tellUnfit(call: string, { mount, tool, arguments: args, reason }: UnfitCall, emit: Telling['emit']): void {
  emit({ type: 'tool_begin', call, mount, tool, arguments: args })
  emit({ type: 'tool_end', call, status: 'failed', result: null, error: reason, durationMs: 0 })
}
