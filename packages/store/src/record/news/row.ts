import { AgentId, NewsKind, NewsText, PromptId, RestRecord, parseJson } from '@parley/protocol'
import { type Row, fromJson, integer, integerOrNull, parsedOrNull, text, textOrNull, toJson } from '@parley/database'
import { uriHash } from '../agent/row.ts'
import type { NewNews } from './news.ts'

const OwnKind = NewsKind.exclude(['chat'])

/** As JSON, because what others say may hold what neither engine stores. */
export const newsColumn = ({ text: said }: NewNews): string => toJson('text', NewsText, said)
export const restColumn = (rest: RestRecord): string => toJson('waits', RestRecord, rest)

export interface NewsRecord extends NewNews {
  readonly agentId: AgentId
  readonly number: number
  readonly at: number
}

export const toNews = (row: Row): NewsRecord => ({
  agentId: AgentId.parse(text(row, 'agent_id')),
  number: integer(row, 'number'),
  kind: OwnKind.parse(text(row, 'kind')),
  subject: text(row, 'subject'),
  text: NewsText.parse(parseJson(text(row, 'body'))),
  at: integer(row, 'created_at'),
})

/** What a subject is found by: one may be longer than an index holds. */
export const subjectHash = uriHash

/** How far an agent was told and woken, and for what it rests. */
export interface LoopRecord {
  readonly heardChat: number
  readonly wokenNews: number
  readonly wokenChat: number
  readonly wokenAt: number | null
  /** The prompt whose turn it ended itself. */
  readonly yielded: PromptId | null
  readonly rest: RestRecord | undefined
  /** When somebody is to look at it next. */
  readonly wakeAt: number | null
}

export const NO_LOOP: LoopRecord = {
  heardChat: 0,
  wokenNews: 0,
  wokenChat: 0,
  wokenAt: null,
  yielded: null,
  rest: undefined,
  wakeAt: null,
}

export const toLoop = (row: Row): LoopRecord => ({
  heardChat: integer(row, 'heard_chat'),
  wokenNews: integer(row, 'woken_news'),
  wokenChat: integer(row, 'woken_chat'),
  wokenAt: integerOrNull(row, 'woken_at'),
  yielded: parsedOrNull(PromptId, textOrNull(row, 'yielded')),
  rest: fromJson(RestRecord, textOrNull(row, 'waits')) ?? undefined,
  wakeAt: integerOrNull(row, 'wake_at'),
})
