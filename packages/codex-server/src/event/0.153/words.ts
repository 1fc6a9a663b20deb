import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '@parley/protocol'
import type { EventMessage } from '@parley/codex/port'
import { changesByPath, type ToldChange } from '../file-changes.ts'
import { parseCommand } from '../parsed-command.ts'
import { newerTotalOf } from '../token-totals.ts'
import { type CommandAct, durationOf, type PatchAct, type Speaker, toolResult, type ToolAct, type Words } from '../words.ts'
import { configuredMessage } from './configured.ts'
import { ItemTimes } from './item-times.ts'

/** The newest there are none of is told as nothing: nobody here knows a limit of the provider's. */
const RATE_LIMITS = {
  limit_id: 'codex',
  limit_name: null,
  primary: null,
  secondary: null,
  credits: null,
  individual_limit: null,
  spend_control_reached: null,
  plan_type: null,
  rate_limit_reached_type: null,
}
const DECISIONS = ['approved', 'approved_for_session', 'abort']

/** The events of 0.100 to 0.153: what happens is told as items, and in the older words beside them. */
export function newerWords({ conversation, order, now }: Speaker): Words {
  const thread_id = conversation.id
  const items = new ItemTimes(thread_id, now)
  let startedAt = 0
  let firstTokenMs: number | undefined
  let isFirstTurn = true

  const open = (id: string, item: JsonObject, out: EventMessage[]): void => {
    firstTokenMs ??= now() - startedAt
    items.start(id, item, out)
  }
  const openMessage = (id: string, out: EventMessage[]): void =>
    open(id, { type: 'AgentMessage', id, content: [{ type: 'Text', text: '' }] }, out)
  const openReasoning = (id: string, out: EventMessage[]): void =>
    open(id, { type: 'Reasoning', id, summary_text: [], raw_content: [] }, out)
  const turnTimes = (): JsonObject => {
    const at = now()
    return { started_at: seconds(startedAt), completed_at: seconds(at), duration_ms: at - startedAt }
  }

  return {
    countsAtStart: false,
    countsAtBreak: true,
    patchBeginsBeforeQuestion: true,
    configured: () => configuredMessage(conversation, order),
    started: (turn, out) => {
      startedAt = now()
      firstTokenMs = undefined
      items.begin(turn)
      if (isFirstTurn) out.push({ type: 'mcp_startup_complete', ready: [], failed: [], cancelled: [] })
      isFirstTurn = false
      out.push({
        type: 'task_started',
        turn_id: turn,
        started_at: seconds(startedAt),
        model_context_window: conversation.contextWindow,
        collaboration_mode_kind: 'default',
      })
    },
    said: (text, out) => {
      const item = { type: 'UserMessage', id: randomUUID(), content: [{ type: 'text', text, text_elements: [] }] }
      items.start(item.id, item, out)
      items.complete(item.id, item, out)
      out.push({
        type: 'user_message',
        message: text,
        images: [],
        local_images: [],
        audio: [],
        local_audio: [],
        text_elements: [],
      })
    },
    delta: (item, delta, out) => {
      if (!items.has(item)) openMessage(item, out)
      out.push({ type: 'agent_message_content_delta', thread_id, turn_id: items.turn, item_id: item, delta })
      // The old words, which the real one had dropped.
      out.push({ type: 'agent_message_delta', delta })
    },
    message: (item, text, out) => {
      if (!items.has(item)) openMessage(item, out)
      items.complete(item, { type: 'AgentMessage', id: item, content: [{ type: 'Text', text }] }, out)
      out.push({ type: 'agent_message', message: text, phase: null, memory_citation: null })
    },
    reasoningPart: ({ item, part }, out) => {
      if (!items.has(item)) openReasoning(item, out)
      out.push({ type: 'agent_reasoning_section_break', item_id: item, summary_index: part })
    },
    reasoningDelta: ({ item, part, delta, raw }, out) => {
      if (!items.has(item)) openReasoning(item, out)
      const about = { thread_id, turn_id: items.turn, item_id: item, delta }
      out.push(
        raw
          ? { type: 'reasoning_raw_content_delta', ...about, content_index: part }
          : { type: 'reasoning_content_delta', ...about, summary_index: part },
      )
    },
    reasoning: (item, { summary, raw }, out) => {
      if (!items.has(item)) openReasoning(item, out)
      const told = { summary_text: [...summary], raw_content: raw === '' ? [] : [raw] }
      items.complete(item, { type: 'Reasoning', id: item, ...told }, out)
      for (const text of summary) out.push({ type: 'agent_reasoning', text })
      if (raw !== '') out.push({ type: 'agent_reasoning_raw_content', text: raw })
    },
    commandAsked: ({ call, argv, folder, reason }, out) =>
      void out.push({
        type: 'exec_approval_request',
        kind: 'command',
        call_id: call,
        turn_id: items.turn,
        environmentId: 'local',
        started_at_ms: now(),
        command: [...argv],
        cwd: folder,
        reason: reason ?? undefined,
        available_decisions: DECISIONS,
        parsed_cmd: [{ ...parseCommand(argv) }],
      }),
    commandBegan: (act, out) => {
      const told = commandOf(act)
      open(act.call, { type: 'CommandExecution', id: act.call, ...told, status: 'in_progress' }, out)
      out.push({
        type: 'exec_command_begin',
        call_id: act.call,
        turn_id: items.turn,
        started_at_ms: act.startedAt,
        ...told,
      })
    },
    commandSaid: ({ call, stream, bytes }, out) => {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
      out.push({ type: 'exec_command_output_delta', call_id: call, stream, chunk })
    },
    commandEnded: (act, { stdout, stderr, output, exitCode, durationMs, status }, out) => {
      const told = commandOf(act)
      const outcome = {
        stdout,
        stderr,
        aggregated_output: output,
        exit_code: exitCode,
        duration: durationOf(durationMs),
        formatted_output: output,
      }
      items.complete(act.call, { type: 'CommandExecution', id: act.call, ...told, status, ...outcome }, out)
      const about = { call_id: act.call, turn_id: items.turn, completed_at_ms: now() }
      out.push({ type: 'exec_command_end', ...about, ...told, ...outcome, status })
    },
    patchAsked: ({ call, changes, reason, grantRoot }, out) =>
      void out.push({
        type: 'apply_patch_approval_request',
        call_id: call,
        turn_id: items.turn,
        started_at_ms: now(),
        changes: changesByPath(changes, order.folder, newerChange),
        reason: reason ?? undefined,
        grant_root: grantRoot ?? undefined,
      }),
    patchBegan: (act, wasAsked, out) => {
      const told = { changes: changesOf(act), auto_approved: !wasAsked }
      open(act.call, { type: 'FileChange', id: act.call, ...told }, out)
      const { changes, auto_approved } = told
      out.push({ type: 'patch_apply_begin', call_id: act.call, turn_id: items.turn, auto_approved, changes })
    },
    patchEnded: (act, { status, stdout, stderr }, out) => {
      const changes = changesOf(act)
      items.complete(act.call, { type: 'FileChange', id: act.call, changes, status, stdout, stderr }, out)
      const about = { call_id: act.call, turn_id: items.turn }
      out.push({ type: 'patch_apply_end', ...about, stdout, stderr, success: status === 'completed', changes, status })
    },
    toolBegan: (act, out) => {
      open(act.call, { ...toolItem(act), status: 'inProgress' }, out)
      out.push({ type: 'mcp_tool_call_begin', call_id: act.call, invocation: invocationOf(act) })
    },
    toolEnded: (act, event, out) => {
      const duration = durationOf(event.durationMs)
      const end = event.result === null ? { error: { message: event.error ?? event.status } } : { result: event.result }
      const status = event.status === 'completed' ? 'completed' : 'failed'
      items.complete(act.call, { ...toolItem(act), status, ...end, duration }, out)
      const about = { call_id: act.call, invocation: invocationOf(act), duration }
      out.push({ type: 'mcp_tool_call_end', ...about, result: toolResult(event) })
    },
    answered: (response_id, { last }, out) => {
      const metadata = {
        input_tokens: last.input_tokens,
        input_tokens_details: { cached_tokens: last.cached_input_tokens },
        output_tokens: last.output_tokens,
        output_tokens_details: { reasoning_tokens: last.reasoning_output_tokens },
        total_tokens: last.input_tokens + last.output_tokens,
      }
      const usage_metadata = { amount: null, metadata }
      out.push({ type: 'raw_response_completed', response_id, token_usage: newerTotalOf(last), usage_metadata })
    },
    counted: (counted, out) => {
      const info =
        counted === null
          ? null
          : {
              total_token_usage: newerTotalOf(counted.total),
              last_token_usage: newerTotalOf(counted.last),
              model_context_window: conversation.contextWindow,
            }
      out.push({ type: 'token_count', info, rate_limits: RATE_LIMITS })
    },
    retry: ({ attempt, reason }, out) =>
      void out.push({
        type: 'stream_error',
        message: `Reconnecting... ${attempt}`,
        codex_error_info: 'other',
        additional_details: reason,
      }),
    compacted: (_event, out) => void out.push({ type: 'context_compacted' }),
    warning: (message, out) => void out.push({ type: 'warning', message }),
    ended: ({ turn, end }, out) => {
      if (end.kind === 'interrupted')
        return void out.push({ type: 'turn_aborted', turn_id: turn, reason: 'interrupted', ...turnTimes() })
      const error = end.kind === 'failed' ? { message: end.message, codex_error_info: 'other' } : undefined
      if (error !== undefined) out.push({ type: 'error', ...error })
      const last_agent_message = end.kind === 'completed' ? end.message : null
      const times = { ...turnTimes(), time_to_first_token_ms: firstTokenMs }
      out.push({ type: 'task_complete', turn_id: turn, last_agent_message, error, ...times })
    },
  }

  function changesOf({ changes }: PatchAct): JsonObject {
    return changesByPath(changes, order.folder, newerChange)
  }
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

const commandOf = ({ argv, folder }: CommandAct): JsonObject => ({
  command: [...argv],
  cwd: pathToFileURL(folder).href,
  parsed_cmd: [{ ...parseCommand(argv) }],
  source: 'agent',
})

const invocationOf = ({ server, tool, arguments: args }: ToolAct): JsonObject => ({ server, tool, arguments: args })
const toolItem = (act: ToolAct): JsonObject => ({ type: 'McpToolCall', id: act.call, ...invocationOf(act) })

/** A change as 0.153 has it: the kind stands in `type`. */
export function newerChange(change: ToldChange): JsonObject {
  if (change.kind !== 'update') return { type: change.kind, content: change.content }
  return { type: 'update', unified_diff: change.unifiedDiff, move_path: change.movePath }
}
