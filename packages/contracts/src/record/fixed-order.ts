import { type JsonValue, isJsonObject } from '@parley/protocol'
import type { RecordedLine } from '../registry/registry-types.ts'

/**
 * Lines that two runs may swap, in an order that does not depend on luck: what belongs to different calls that run at once
 * stands call by call, and what tells of the start of MCP servers stands before the turn that begins beside it. What may
 * come or not is left out: the token counts around an aborted turn, notices about the machine.
 */
export function inFixedOrder(lines: readonly RecordedLine[]): readonly RecordedLine[] {
  return callByCall(withoutLuck(lines.filter(({ message }) => !isNotice(message))))
}

const isNotice = (message: JsonValue): boolean =>
  isJsonObject(message) &&
  typeof message['method'] === 'string' &&
  /^(remoteControl|account\/rateLimits)\//.test(message['method'])

function withoutLuck(lines: readonly RecordedLine[]): readonly RecordedLine[] {
  const types = lines.map(eventType)
  const isNearAbort = (index: number): boolean => {
    for (const step of [-1, 1]) {
      let at = index
      while (types[at] === 'token_count') at += step
      if (types[at] === 'turn_aborted') return true
    }
    return false
  }
  return lines.filter((_, index) => types[index] !== 'token_count' || !isNearAbort(index))
}

function callByCall(lines: readonly RecordedLine[]): readonly RecordedLine[] {
  const ordered: RecordedLine[] = []
  let run: { readonly line: RecordedLine; readonly call: JsonValue }[] = []
  const flush = (): void => {
    const calls = [...Map.groupBy(run, ({ call }) => call).entries()].toSorted(byCall)
    ordered.push(...calls.flatMap(([, part]) => startFirst(part.map(({ line }) => line))))
    run = []
  }
  for (const line of lines) {
    const call = callOf(line)
    if (call === undefined) {
      flush()
      ordered.push(line)
    } else run.push({ line, call })
  }
  flush()
  return ordered
}

const byCall = ([a]: readonly [JsonValue, unknown], [b]: readonly [JsonValue, unknown]): number => Number(a) - Number(b)

/**
 * The MCP servers of a conversation start beside its first turn, and Codex tells of them whenever it comes to it. What tells
 * of them keeps its own order and its place after `session_configured` and before the end of the turn: only there do the
 * two run at once.
 */
function startFirst(lines: readonly RecordedLine[]): readonly RecordedLine[] {
  const opened = lines.findIndex((line) => eventType(line) === 'session_configured')
  if (opened === -1) return lines
  const ended = lines.findIndex((line, index) => index > opened && TURN_ENDS.has(eventType(line)))
  const beside = lines.slice(opened + 1, ended === -1 ? lines.length : ended)
  const { start = [], turn = [] } = Object.groupBy(beside, (line) => (STARTS.has(eventType(line)) ? 'start' : 'turn'))
  return lines.toSpliced(opened + 1, beside.length, ...start, ...turn)
}
const STARTS: ReadonlySet<unknown> = new Set(['mcp_startup_update', 'mcp_startup_complete'])
const TURN_ENDS: ReadonlySet<unknown> = new Set(['task_complete', 'turn_aborted'])

/** The call of the MCP server that a line from it belongs to, if it says so. */
function callOf({ dir, message }: RecordedLine): JsonValue | undefined {
  if (dir === '>' || !isJsonObject(message)) return undefined
  if (message['method'] === undefined) return message['id']
  const params = isJsonObject(message['params']) ? message['params'] : {}
  return isJsonObject(params['_meta']) ? params['_meta']['requestId'] : undefined
}

function eventType({ message }: RecordedLine): JsonValue | undefined {
  const params = isJsonObject(message) && isJsonObject(message['params']) ? message['params'] : {}
  return isJsonObject(params['msg']) ? params['msg']['type'] : undefined
}
