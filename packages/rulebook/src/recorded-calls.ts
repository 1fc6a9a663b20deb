import { setImmediate as turn } from 'node:timers/promises'
import { type AgentId, CallKind, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import type { PolicyCall } from '@parley/policy'
import { type AgentRecord, type Store, callsLog, linesOf } from '@parley/store'

/** So much of the end of a log is looked at, in pieces. */
const TAIL_BYTES = 8 * 1024 * 1024
const PIECE_BYTES = 256 * 1024
/** Every such line has it, wherever it stands: most others need not be parsed. */
const DECIDED = '"step":"decided"'

/** A line that says what was decided about a call. */
export interface RecordedCall {
  readonly at: number
  readonly by: string
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
  readonly arguments: JsonValue
  readonly isAllowed: boolean
  /** It was too long to be written down whole. */
  readonly isCut: boolean
}

/** The newest calls of an agent, the oldest of them first. Those whose arguments were too long to be written down are left out. */
export async function recordedCalls(
  store: Pick<Store, 'logs'>,
  { id, name, ownerName }: Pick<AgentRecord, 'id' | 'name' | 'ownerName'>,
  limit: number,
): Promise<readonly PolicyCall[]> {
  const { offset: end } = await store.logs.end(callsLog(id))
  const recorded: RecordedCall[] = []
  for await (const call of recordedFrom(store, id, end - TAIL_BYTES)) if (!call.isCut) recorded.push(call)
  return recorded.slice(-limit).map((call) => ({
    caller: { role: 'agent', name: call.by },
    agent: { id, name, owner: ownerName },
    session: null,
    kind: call.kind,
    mount: call.mount,
    mountVersion: null,
    name: call.name,
    arguments: call.arguments,
    annotations: undefined,
    counts: { turn: 0, hour: 0, day: 0 },
    now: call.at,
  }))
}

/** What was decided, from a place of the log on, the oldest first. Others have their turn meanwhile. */
export async function* recordedFrom({ logs }: Pick<Store, 'logs'>, id: AgentId, from: number): AsyncGenerator<RecordedCall> {
  const log = callsLog(id)
  const { offset: end } = await logs.end(log)
  const { offset: start } = await logs.start(log)
  for (let offset = Math.max(from, start); offset < end;) {
    const { entries, next } = await logs.read(log, { from: { offset }, maxBytes: PIECE_BYTES })
    if (entries.length === 0) break
    // What begins in the middle of a line is no JSON, and passed over.
    for (const { line } of linesOf(entries)) {
      const call = line.includes(DECIDED) ? recordedIn(line) : undefined
      if (call !== undefined) yield call
    }
    offset = next.offset
    await turn()
  }
}

function recordedIn(line: string): RecordedCall | undefined {
  const value = parseJson(line)
  if (!isJsonObject(value) || value['step'] !== 'decided') return undefined
  const { at, by, kind, mount, name, arguments: args, decision } = value
  const { data } = CallKind.safeParse(kind)
  if (data === undefined || typeof at !== 'string' || typeof by !== 'string' || typeof name !== 'string') return undefined
  return {
    at: Date.parse(at),
    by: by.split(' ', 1)[0] ?? by,
    kind: data,
    mount: typeof mount === 'string' ? mount : null,
    name,
    arguments: args ?? null,
    isCut: value['cut'] === true,
    isAllowed: isJsonObject(decision) && decision['kind'] === 'allow',
  }
}
