import type { EventMessage } from '@parley/codex/port'
import { changesByPath, type ToldChange } from '../file-changes.ts'
import { parsedForOlder } from '../parsed-command.ts'
import { durationOf, type Counted, type Speaker, toolResult, type Words } from '../words.ts'
import { totalOf } from '../token-totals.ts'
import type { JsonObject } from '@parley/protocol'

const RATE_LIMITS = { primary: null, secondary: null }

/** The events of 0.42 to 0.45. */
export function olderWords({ conversation, order }: Speaker): Words {
  return {
    countsAtStart: true,
    countsAtBreak: false,
    patchBeginsBeforeQuestion: false,
    configured: () => ({
      type: 'session_configured',
      session_id: conversation.id,
      model: conversation.model,
      reasoning_effort: conversation.effort ?? undefined,
      history_log_id: 0,
      history_entry_count: 0,
      initial_messages: conversation.initialMessages.length === 0 ? undefined : [...conversation.initialMessages],
      rollout_path: conversation.rolloutPath,
    }),
    started: (_turn, out) => void out.push({ type: 'task_started', model_context_window: conversation.contextWindow }),
    said: () => undefined,
    delta: (_item, delta, out) => void out.push({ type: 'agent_message_delta', delta }),
    message: (_item, message, out) => void out.push({ type: 'agent_message', message }),
    reasoningPart: (_event, out) => void out.push({ type: 'agent_reasoning_section_break' }),
    reasoningDelta: ({ delta, raw }, out) =>
      void out.push({ type: raw ? 'agent_reasoning_raw_content_delta' : 'agent_reasoning_delta', delta }),
    reasoning: (_item, { summary, raw }, out) => {
      for (const text of summary) out.push({ type: 'agent_reasoning', text })
      if (raw !== '') out.push({ type: 'agent_reasoning_raw_content', text: raw })
    },
    commandAsked: ({ call, argv, folder, reason }, out) =>
      void out.push({
        type: 'exec_approval_request',
        call_id: call,
        command: [...argv],
        cwd: folder,
        reason: reason ?? undefined,
      }),
    commandBegan: ({ call, argv, folder }, out) =>
      void out.push({
        type: 'exec_command_begin',
        call_id: call,
        command: [...argv],
        cwd: folder,
        parsed_cmd: [parsedForOlder(argv)],
      }),
    commandSaid: ({ call, stream, bytes }, out) =>
      void out.push({ type: 'exec_command_output_delta', call_id: call, stream, chunk: base64(bytes) }),
    commandEnded: ({ call }, { stdout, stderr, output, exitCode, durationMs }, out) =>
      void out.push({
        type: 'exec_command_end',
        call_id: call,
        stdout,
        stderr,
        aggregated_output: output,
        exit_code: exitCode,
        duration: durationOf(durationMs),
        formatted_output: output,
      }),
    patchAsked: ({ call, changes, reason, grantRoot }, out) =>
      void out.push({
        type: 'apply_patch_approval_request',
        call_id: call,
        changes: changesByPath(changes, order.folder, olderChange),
        reason: reason ?? undefined,
        grant_root: grantRoot ?? undefined,
      }),
    patchBegan: ({ call, changes }, wasAsked, out) =>
      void out.push({
        type: 'patch_apply_begin',
        call_id: call,
        auto_approved: !wasAsked,
        changes: changesByPath(changes, order.folder, olderChange),
      }),
    patchEnded: ({ call }, { status, stdout, stderr }, out) =>
      void out.push({ type: 'patch_apply_end', call_id: call, stdout, stderr, success: status === 'completed' }),
    toolBegan: ({ call, server, tool, arguments: args }, out) =>
      void out.push({ type: 'mcp_tool_call_begin', call_id: call, invocation: { server, tool, arguments: args } }),
    toolEnded: ({ call, server, tool, arguments: args }, event, out) =>
      void out.push({
        type: 'mcp_tool_call_end',
        call_id: call,
        invocation: { server, tool, arguments: args },
        duration: durationOf(event.durationMs),
        result: toolResult(event),
      }),
    answered: () => undefined,
    counted: (counted, out) => void out.push(tokenCount(counted, conversation.contextWindow)),
    retry: ({ attempt, waitMs, reason }, out) =>
      void out.push({ type: 'stream_error', message: `stream error: ${reason}; retry ${attempt} in ${waitMs}ms…` }),
    compacted: ({ before, after }, out) =>
      void out.push({ type: 'background_event', message: `Context compacted from ${before} to ${after} tokens.` }),
    warning: (message, out) => void out.push({ type: 'background_event', message }),
    ended: ({ end }, out) => {
      if (end.kind === 'interrupted') return void out.push({ type: 'turn_aborted', reason: 'interrupted' })
      if (end.kind === 'failed') out.push({ type: 'error', message: end.message })
      out.push({ type: 'task_complete', last_agent_message: end.kind === 'completed' ? end.message : null })
    },
  }
}

function tokenCount(counted: Counted | null, window: number | null): EventMessage {
  if (counted === null) return { type: 'token_count', info: null, rate_limits: RATE_LIMITS }
  const info = {
    total_token_usage: totalOf(counted.total),
    last_token_usage: totalOf(counted.last),
    model_context_window: window,
  }
  return { type: 'token_count', info, rate_limits: RATE_LIMITS }
}

/** A change as 0.44 has it: the kind is the key. */
export function olderChange(change: ToldChange): JsonObject {
  if (change.kind !== 'update') return { [change.kind]: { content: change.content } }
  return { update: { unified_diff: change.unifiedDiff, move_path: change.movePath } }
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
