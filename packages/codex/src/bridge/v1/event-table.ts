import * as z from 'zod'
import type { JsonObject } from '@parley/protocol'
import { Json, Table } from './answers.ts'
import { fileChanges } from './file-change.ts'
import type { TurnReader } from './turn-reader.ts'
import { TokenInfo } from './usage.ts'

type Row = (reader: TurnReader, message: JsonObject) => boolean

/** Reads a message by its schema and tells it. False: it is not what it was known to be. */
function row<Schema extends z.ZodType>(schema: Schema, tell: (reader: TurnReader, message: z.infer<Schema>) => void): Row {
  return (reader, message) => {
    const read = schema.safeParse(message)
    if (read.success) tell(reader, read.data)
    return read.success
  }
}

const Call = z.object({ call_id: z.string() })
const Said = z.object({ message: z.string() })
const Delta = z.object({ delta: z.string() })
const Duration = z.union([z.object({ secs: z.number(), nanos: z.number() }), z.string()]).optional()
const Invocation = z.object({ server: z.string(), tool: z.string(), arguments: Json.optional() })
const ToolResult = z.union([z.object({ Ok: Table }), z.object({ Err: z.string() })])
const PlanStep = z.object({ step: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })

/** Retries are told in a sentence: `stream error: …; retrying 2/5 in 400ms…`. */
const RETRY = /retrying (\d+)\/\d+ in ([\d.]+)(ms|s)/

/** Every message of a turn that means something to the port, by its `type`. The others mean nothing there. */
export const EVENT_TABLE: Readonly<Record<string, Row>> = {
  agent_message_delta: row(Delta, (reader, { delta }) => reader.messageDelta(delta)),
  agent_message: row(Said, (reader, { message }) => reader.message(message)),
  agent_reasoning_section_break: row(z.object({}), (reader) => reader.reasoning.part()),
  agent_reasoning_delta: row(Delta, (reader, { delta }) => reader.reasoning.delta(delta, 'summary')),
  agent_reasoning: row(z.object({ text: z.string() }), (reader, { text }) => reader.reasoning.whole(text, 'summary')),
  agent_reasoning_raw_content_delta: row(Delta, (reader, { delta }) => reader.reasoning.delta(delta, 'raw')),
  agent_reasoning_raw_content: row(z.object({ text: z.string() }), (reader, { text }) => reader.reasoning.whole(text, 'raw')),
  plan_update: row(z.object({ explanation: z.string().nullish(), plan: z.array(PlanStep) }), (reader, { explanation, plan }) =>
    reader.emit({ type: 'plan', explanation: explanation ?? null, steps: plan }),
  ),
  token_count: row(z.object({ info: TokenInfo.nullish() }), (reader, { info }) => reader.usage(info ?? undefined)),
  exec_command_begin: row(
    Call.extend({ command: z.array(z.string()), cwd: z.string() }),
    (reader, { call_id: call, command, cwd }) => reader.calls.command(call, command, cwd),
  ),
  exec_command_output_delta: row(
    Call.extend({ stream: z.enum(['stdout', 'stderr']), chunk: z.union([z.string(), z.array(z.number())]) }),
    (reader, { call_id: call, stream, chunk }) => reader.calls.output(call, stream, bytesOf(chunk)),
  ),
  exec_command_end: row(
    Call.extend({ exit_code: z.number(), aggregated_output: z.string().default(''), duration: Duration }),
    (reader, { call_id: call, exit_code: exitCode, aggregated_output: output, duration }) =>
      reader.calls.commandEnd(call, { exitCode, output, durationMs: millisecondsOf(duration) }),
  ),
  patch_apply_begin: row(Call.extend({ changes: Table }), (reader, { call_id: call, changes }) =>
    reader.calls.patch(call, fileChanges(changes)),
  ),
  patch_apply_end: row(
    Call.extend({ success: z.boolean(), stdout: z.string().default(''), stderr: z.string().default('') }),
    (reader, { call_id: call, success, stdout, stderr }) =>
      reader.calls.patchEnd(call, success ? null : stderr || stdout || 'the patch could not be applied'),
  ),
  turn_diff: row(z.object({ unified_diff: z.string() }), (reader, { unified_diff: diff }) => reader.diff(diff)),
  mcp_tool_call_begin: row(Call.extend({ invocation: Invocation }), (reader, { call_id: call, invocation }) =>
    reader.calls.tool(call, { mount: invocation.server, tool: invocation.tool, arguments: invocation.arguments ?? null }),
  ),
  mcp_tool_call_end: row(Call.extend({ result: ToolResult, duration: Duration }), (reader, { call_id: call, result, duration }) =>
    reader.calls.toolEnd(call, 'Ok' in result ? result.Ok : result.Err, millisecondsOf(duration)),
  ),
  web_search_begin: row(Call, (reader, { call_id: call }) =>
    reader.calls.tool(call, { mount: null, tool: 'web_search', arguments: null }),
  ),
  web_search_end: row(Call.extend({ query: z.string().default('') }), (reader, { call_id: call, query }) =>
    reader.calls.toolEnd(call, { content: [{ type: 'text', text: query }] }, 0),
  ),
  view_image_tool_call: row(Call.extend({ path: z.string() }), (reader, { call_id: call, path }) => {
    reader.calls.tool(call, { mount: null, tool: 'view_image', arguments: { path } })
    reader.calls.toolEnd(call, { content: [] }, 0)
  }),
  background_event: row(Said, (reader, { message }) => reader.emit({ type: 'warning', message })),
  warning: row(Said, (reader, { message }) => reader.emit({ type: 'warning', message })),
  stream_error: row(Said, (reader, { message }) => {
    const [, attempt = '1', wait = '0', unit = 'ms'] = RETRY.exec(message) ?? []
    const waitMs = Math.round(Number(wait) * (unit === 's' ? 1_000 : 1))
    reader.emit({ type: 'retry', attempt: Number(attempt), waitMs, reason: message })
  }),
  // Codex tells the failure first and the end of the turn right after it.
  error: row(Said, (reader, { message }) => reader.failed(message)),
  task_complete: row(z.object({ last_agent_message: z.string().nullish() }), (reader, { last_agent_message: last }) =>
    reader.completed(last ?? ''),
  ),
  turn_aborted: row(z.object({}), (reader) => reader.finish({ kind: 'interrupted' })),
}

const bytesOf = (chunk: string | readonly number[]): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk, 'base64') : Uint8Array.from(chunk)

function millisecondsOf(duration: z.infer<typeof Duration>): number {
  return typeof duration === 'object' ? Math.round(duration.secs * 1_000 + duration.nanos / 1_000_000) : 0
}
