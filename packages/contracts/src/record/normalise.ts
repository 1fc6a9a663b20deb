import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { RecordedLine } from '../registry/registry-types.ts'

/** What stands for itself in one run and must not in a recording. */
export interface Places {
  readonly work: string
  readonly home: string
  readonly modelUrl: string
}

/** Times, durations, process numbers: fields whose number says nothing. */
const NUMBERS = new Set([
  'secs',
  'nanos',
  'history_log_id',
  'historyLogId',
  'started_at',
  'completed_at',
  'duration_ms',
  'time_to_first_token_ms',
  'started_at_ms',
  'completed_at_ms',
  'emittedAtMs',
  'resets_in_seconds',
  'create_time',
  'createdAt',
  'updatedAt',
  'recencyAt',
  'startedAt',
  'startedAtMs',
  'completedAt',
  'completedAtMs',
  'durationMs',
])
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const COMMIT = /\b[0-9a-f]{40}\b/g
const USER_AGENT = /^([\w-]+\/[\d.]+) \([^)]*\) \S+/
/** What the model server and Codex number by themselves. */
const MADE_ID = /\b(msg|rs|fc|resp)_[0-9a-f]{8}\d+\b/g
const PROCESS_IDS = new Set(['process_id', 'processId'])
/** An id that a scenario made up stays as it is. */
const MADE_UP = /^00000000-0000-7000-8000-9/
/** Later versions name every method they have when they do not know one. */
const METHOD_LIST = /(unknown variant `[^`]*`, expected one of ).*$/
const PROMPT = '(what Codex tells the model)'

/** Makes lines of any run alike: the same scenario gives the same lines, wherever and whenever it is played. */
export function normaliser(places: Places): (line: RecordedLine) => RecordedLine {
  const uuids = new Map<string, string>()
  const commits = new Map<string, string>()
  const madeIds = new Map<string, string>()
  const numbered = (seen: Map<string, string>, found: string, make: (number: number) => string): string => {
    const known = seen.get(found) ?? make(seen.size + 1)
    seen.set(found, known)
    return known
  }
  const text = (value: string): string =>
    signInAddress(value)
      .replaceAll(places.work, '/WORK')
      .replaceAll(places.home, '/HOME')
      .replaceAll(places.modelUrl, 'http://127.0.0.1:1/v1')
      .replace(USER_AGENT, '$1 (OS) TERMINAL')
      .replace(MADE_ID, (found, kind: string) => numbered(madeIds, found, (number) => `${kind}_${number}`))
      .replace(/^Chunk ID: [0-9a-f]+$/gm, 'Chunk ID: 000000')
      .replace(/^Wall time: [\d.]+ seconds$/gm, 'Wall time: 0 seconds')
      .replace(METHOD_LIST, '$1(its methods)')
      .replace(UUID, (found) => (MADE_UP.test(found) ? found : numbered(uuids, found, placeholderUuid)))
      .replace(COMMIT, (found) => numbered(commits, found, (number) => String(number % 10).repeat(40)))
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (_, part: string | undefined) =>
        part === undefined ? '2026-01-01T00:00:00Z' : '2026-01-01T00:00:00.000Z',
      )
      .replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d/g, '2026-01-01T00-00-00')
      .replace(/\/sessions\/\d{4}\/\d\d\/\d\d\//g, '/sessions/2026/01/01/')
  const value = (it: JsonValue, key: string): JsonValue => {
    if (typeof it === 'string') return PROCESS_IDS.has(key) ? '1' : text(it)
    if (typeof it === 'number') return NUMBERS.has(key) ? 0 : it
    if (Array.isArray(it)) return it.map((item) => value(item, key))
    return isJsonObject(it) ? object(it) : it
  }
  const object = (it: JsonObject): JsonObject =>
    withoutPrompt(Object.fromEntries(Object.entries(it).map(([key, item]) => [text(key), value(item ?? null, key)])))
  return ({ dir, message }) => ({ dir, message: value(message, '') })
}

const placeholderUuid = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

/** Newer versions show each item of the model's input, among them whole prompts that are theirs to publish. */
function withoutPrompt(it: JsonObject): JsonObject {
  if (it['type'] !== 'message' || (it['role'] !== 'developer' && it['role'] !== 'user') || !Array.isArray(it['content']))
    return it
  return { ...it, content: it['content'].map((part) => (isJsonObject(part) ? { ...part, text: PROMPT } : part)) }
}

/** Keeps the names of the parameters and where the browser returns to. */
function signInAddress(address: string): string {
  if (!/^https:\/\/[^/]+\/oauth\/authorize\?/.test(address)) return address
  return address.replace(/\b(client_id|code_challenge|state)=[^&]*/g, '$1=SECRET')
}
