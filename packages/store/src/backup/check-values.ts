import {
  AGENT_LIMITS,
  AgentKind,
  ApprovalKind,
  ApprovalStatus,
  BackgroundCallState,
  CallKind,
  ChannelKind,
  ChatMessage,
  JobStatus,
  ModelWire,
  NewsKind,
  PolicyLayer,
  PolicyStatus,
  PromptStatus,
  Role,
} from '@parley/protocol'
import { type Queries, NotAStore, text } from '@parley/database'
import { MAX_TURNS, firstFence } from '../lease/fence.ts'
import { TABLES, type Table } from './tables.ts'

/** A text out of the file is shown by so much of it. */
const SHOWN_CHARS = 100

/** Texts that come from the file may hold what a terminal would act on. */
export const shown = (text: string): string => text.slice(0, SHOWN_CHARS).replaceAll(/\p{Cc}|\p{Cf}/gu, '\uFFFD')

/** Columns of which we know all values. One that is not known would fail wherever the row is read later. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  jobs: { status: JobStatus.options },
  usage: { status: ['reserved', 'booked'], source: ['proxy', 'judge', 'script'] },
  tokens: { role: Role.options },
  audit_entries: { outcome: ['ok', 'denied', 'failed'] },
  channels: { kind: ChannelKind.options, wire: ModelWire.options, source: ['settings', 'admin'] },
  models: { source: ['settings', 'admin'] },
  workers: { kind: ['host', 'executor'] },
  agents: { status: ['active', 'deleting'], kind: AgentKind.options },
  prompts: { status: PromptStatus.options },
  chat_messages: { said_from: ChatMessage.shape.from.options },
  news: { kind: NewsKind.exclude(['chat']).options },
  background_calls: { state: BackgroundCallState.options },
  approvals: { status: ApprovalStatus.options, kind: ApprovalKind.options },
  policies: { status: PolicyStatus.options, layer: PolicyLayer.options },
  allowances: { kind: CallKind.options },
}
/** What a gateway counts one by one. */
const MAX_COUNT = 2 ** 52
/** No job and no file has nearly as many bytes, and the sum of a thousand of them is a number that JavaScript counts exactly. */
const MAX_BYTES = 2 ** 40
/** Numbers that others are made of or go on after, and their bounds. */
const MOST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  jobs: { claims: MAX_COUNT, lost_claims: MAX_COUNT, kept_bytes: MAX_BYTES },
  logs: { first_seq: MAX_COUNT, first_offset: MAX_COUNT },
  blobs: { size: MAX_BYTES },
  uploads: { size: MAX_BYTES },
  leases: { turns: MAX_TURNS, round: MAX_COUNT, claims: MAX_COUNT },
  served_rounds: { round: MAX_COUNT },
  agents: { version: MAX_COUNT },
  mounts: { version: MAX_COUNT },
  prompts: { number: MAX_COUNT },
  chat_messages: { number: MAX_COUNT },
  chat_markers: { read_to: MAX_COUNT },
  news: { number: MAX_COUNT },
  background_calls: { number: MAX_COUNT, result_bytes: AGENT_LIMITS.backgroundResultBytes * 4 },
  loops: { last_news: MAX_COUNT, heard_chat: MAX_COUNT, woken_news: MAX_COUNT, woken_chat: MAX_COUNT },
  policies: { version: MAX_COUNT },
}
/** Numbers that are added up over rows. As large as these a sum is still one that more can be added to. */
const SUMMED: Readonly<Record<string, string>> = { jobs: 'kept_bytes', blobs: 'size', uploads: 'size' }
const MAX_SUM = 2 ** 52
/** The numbers that may be below zero: they mark what is about to go. */
const MARKS: ReadonlySet<string> = new Set(['blobs.touched_at', 'uploads.touched_at'])

/** What must not be true of a column, and how that is said of the value that is found. */
interface Wrong {
  readonly column: string
  readonly where: string
  readonly words: string
}
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  background_calls: ['cut', 'error'],
  users: ['admin', 'disabled'],
  logs: ['closed'],
  jobs: ['begun', 'released'],
  channels: ['enabled'],
  models: ['active'],
  usage: ['estimated'],
  judges: ['drain'],
  workers: ['drain'],
  mounts: ['plain'],
}
const flagsOf = (table: string): readonly Wrong[] =>
  (FLAGS[table] ?? []).map((column) => ({ column, where: `${column} NOT IN (0, 1)`, words: 'is neither 0 nor 1' }))
/** Who reads a log halves its entries and goes on where one ends: they are numbered from its first on, and each ends where its bytes do. */
const BEFORE = 'FROM log_entries b WHERE b.log_id = log_entries.log_id AND b.seq = log_entries.seq - 1'
const firstOf = (column: string): string => `(SELECT l.${column} FROM logs l WHERE l.id = log_entries.log_id)`
const NONE_FIRST = `EXISTS (SELECT 1 FROM log_entries e WHERE e.log_id = logs.id)
  AND NOT EXISTS (SELECT 1 FROM log_entries e WHERE e.log_id = logs.id AND e.seq = logs.first_seq)`
const OF_LOGS: Readonly<Record<string, readonly Wrong[]>> = {
  logs: [
    { column: 'first_seq', where: NONE_FIRST, words: 'is no entry of it' },
    { column: 'first_offset', where: '(first_seq = 0) <> (first_offset = 0)', words: 'is not where its first entry begins' },
  ],
  log_entries: [
    { column: 'bytes', where: 'octet_length(bytes) = 0', words: 'is empty' },
    { column: 'seq', where: `seq <> ${firstOf('first_seq')} AND NOT EXISTS (SELECT 1 ${BEFORE})`, words: 'comes after none' },
    {
      column: 'end_offset',
      where: `end_offset <> octet_length(bytes) + coalesce((SELECT b.end_offset ${BEFORE}), ${firstOf('first_offset')})`,
      words: 'is not where its bytes end',
    },
  ],
}

/** The last millisecond that has a date. A time beyond it cannot be shown to anybody. */
const MAX_TIME_MS = 8_640_000_000_000_000
/** A lease is of a day at most, and the clock of whoever made the backup may have been ahead of ours. */
const MAX_LEASE_AHEAD_MS = 366 * 24 * 60 * 60_000
const isTime = (column: string): boolean => column === 'at' || column.endsWith('_at')

/** Throws `NotAStore` that names table, row and column of a number that we never write, or of a word that is none of ours. */
export async function checkValues(copy: Queries, file: string): Promise<void> {
  for (const table of TABLES) {
    for (const column of table.columns) {
      if (MARKS.has(`${table.name}.${column}`)) continue
      const place = await firstWhere(copy, table, column, `typeof(${column}) = 'integer' AND ${column} < 0`)
      if (place !== undefined) throw new NotAStore(file, `holds ${place}, which is below zero`)
      const most = isTime(column) ? MAX_TIME_MS : Number.MAX_SAFE_INTEGER
      const beyond = await firstWhere(copy, table, column, `typeof(${column}) = 'integer' AND ${column} > ${most}`)
      if (beyond !== undefined) throw new NotAStore(file, `holds ${beyond}, which is beyond ${most}`)
    }
    for (const [column, most] of Object.entries(MOST[table.name] ?? {})) {
      const place = await firstWhere(copy, table, column, `${column} > ${most}`)
      if (place !== undefined) throw new NotAStore(file, `holds ${place}, which cannot be gone on from`)
    }
    const summed = SUMMED[table.name]
    // Every one of them is within its own bound by now, so SQLite can add them up.
    const sum =
      summed === undefined ? undefined : await copy.get(`SELECT sum(${summed}) > ${MAX_SUM} AS most FROM ${table.name}`, [])
    if (sum?.['most'] === 1) throw new NotAStore(file, `holds more than ${MAX_SUM} in ${table.name}.${summed} together`)
    for (const { column, where, words } of [...flagsOf(table.name), ...(OF_LOGS[table.name] ?? [])]) {
      const place = await firstWhere(copy, table, column, where)
      if (place !== undefined) throw new NotAStore(file, `holds ${place}, which ${words}`)
    }
    for (const [column, words] of Object.entries(KNOWN[table.name] ?? {})) {
      const listed = words.map((word) => `'${word}'`).join(', ')
      const place = await firstWhere(copy, table, column, `${column} NOT IN (${listed})`)
      if (place !== undefined) throw new NotAStore(file, `holds ${place}, which is none of ${listed}`)
    }
  }
}

/** Throws `NotAStore` for an item that nobody could take for a year. */
export async function checkDue(copy: Queries, file: string, now: number): Promise<void> {
  for (const table of TABLES.filter(({ name }) => name === 'leases')) {
    const place = await firstWhere(copy, table, 'available_at', `available_at > ${now + MAX_LEASE_AHEAD_MS}`)
    if (place !== undefined) throw new NotAStore(file, `holds ${place}, which is too far in the future`)
  }
}

/** What is written under a fence, and says so. */
const FENCED: ReadonlySet<string> = new Set(['jobs', 'agents', 'prompts', 'background_calls', 'approvals', 'model_keys'])

/** Throws `NotAStore` for a claim or a report under a fence that nobody was given yet: it would be as good as that of whoever gets it. */
export async function checkFences(copy: Queries, file: string): Promise<void> {
  const given = `(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'leases')`
  for (const table of TABLES.filter(({ name }) => FENCED.has(name))) {
    const place = await firstWhere(copy, table, 'fence', `fence >= ${firstFence(`${given} + 1`)}`)
    if (place !== undefined) throw new NotAStore(file, `holds ${place}, which was never given`)
  }
}

/** The value that the condition finds first, and where it stands. */
async function firstWhere(copy: Queries, { name, key }: Table, column: string, condition: string): Promise<string | undefined> {
  const keys = key.map((part) => `coalesce(CAST(${part} AS TEXT), '')`).join(` || ' ' || `)
  const sql = `SELECT CAST(${column} AS TEXT) AS value, ${keys} AS id FROM ${name} WHERE ${condition} LIMIT 1`
  const found = await copy.get(sql, [])
  if (found === undefined) return undefined
  const [value, id] = [shown(text(found, 'value')), shown(text(found, 'id'))]
  return `${JSON.stringify(value)} in ${name}.${column} of the row ${JSON.stringify(id)}`
}
