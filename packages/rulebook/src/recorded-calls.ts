import { type AgentId, CallKind, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import type { PolicyCall } from '@parley/policy'
import { type AgentRecord, type Store, callsLog, linesOf } from '@parley/store'

/** So much of the end of a log is looked at, in pieces. */
const TAIL_BYTES = 8 * 1024 * 1024
const PIECE_BYTES = 1024 * 1024
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Different things that are counted for one agent; of more, the rest begins at zero. */
const COUNTED_MAX = 2_000

/** A line that says what was decided about a call. */
interface RecordedCall {
  readonly at: number
  readonly by: string
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
  readonly arguments: JsonValue
  readonly isAllowed: boolean
}

/** Calls by minute: what a host begins to count from. */
export interface CountedCalls {
  readonly kind: CallKind
  readonly mount: string | null
  readonly name: string
  minute: number
  calls: number
}

/** The newest calls of an agent, the oldest of them first. Those whose arguments were too long to be written down are left out. */
export async function recordedCalls(
  store: Pick<Store, 'logs'>,
  { id, name, ownerName }: Pick<AgentRecord, 'id' | 'name' | 'ownerName'>,
  limit: number,
): Promise<readonly PolicyCall[]> {
  const recorded = await recordedOf(store, id)
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

/** What an agent was let do in the last day. */
export async function countedCalls(store: Pick<Store, 'logs' | 'now'>, id: AgentId): Promise<readonly CountedCalls[]> {
  const since = store.now() - DAY_MS
  const counted = new Map<string, CountedCalls>()
  for (const { at, kind, mount, name, isAllowed } of await recordedOf(store, id)) {
    if (!isAllowed || at < since) continue
    const minute = Math.floor(at / MINUTE_MS)
    const key = JSON.stringify([kind, mount, name, minute])
    const known = counted.get(key)
    if (known !== undefined) known.calls += 1
    else if (counted.size < COUNTED_MAX) counted.set(key, { kind, mount, name, minute, calls: 1 })
  }
  return [...counted.values()]
}

async function recordedOf({ logs }: Pick<Store, 'logs'>, id: AgentId): Promise<readonly RecordedCall[]> {
  const log = callsLog(id)
  const { offset: end } = await logs.end(log)
  const from = Math.max(0, end - TAIL_BYTES)
  const recorded: RecordedCall[] = []
  for (let offset = from; offset < end;) {
    const { entries, next } = await logs.read(log, { from: { offset }, maxBytes: PIECE_BYTES })
    if (entries.length === 0) break
    // What begins in the middle of a line is no JSON, and passed over.
    for (const { line } of linesOf(entries)) {
      const call = recordedIn(line)
      if (call !== undefined) recorded.push(call)
    }
    offset = next.offset
  }
  return recorded
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
    isAllowed: isJsonObject(decision) && decision['kind'] === 'allow',
  }
}
