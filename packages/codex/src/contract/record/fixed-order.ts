import { type JsonValue, isJsonObject } from '@parley/protocol'
import type { RecordedLine } from '../registry-types.ts'

/**
 * Lines that two runs may swap, in an order that does not depend on luck: what belongs to different calls that run at once
 * stands call by call. What may come or not is left out: the token counts around an aborted turn, notices about the machine.
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
    ordered.push(
      ...[...Map.groupBy(run, ({ call }) => call).entries()].toSorted(byCall).flatMap(([, part]) => part.map(({ line }) => line)),
    )
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
