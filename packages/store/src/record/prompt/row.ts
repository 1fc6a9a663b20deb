import { AgentId, NewsKind, PromptId, PromptOutcome, PromptStatus, PromptText, parseJson } from '@parley/protocol'
import { type Row, fromJson, integer, integerOrNull, parsedOrNull, text, textOrNull, toJson } from '@parley/database'
import type { PromptRecord } from './prompt.ts'

const Outcome = PromptOutcome.omit({ status: true })

/** As JSON, because a text of people's may hold what neither engine stores. */
export const bodyColumn = (value: string): string => toJson('text', PromptText, value)
export const outcomeColumn = ({ code, message }: PromptOutcome): string => toJson('outcome', Outcome, { code, message })

export function toPrompt(row: Row): PromptRecord {
  return {
    id: PromptId.parse(text(row, 'id')),
    agentId: AgentId.parse(text(row, 'agent_id')),
    number: integer(row, 'number'),
    text: PromptText.parse(parseJson(text(row, 'body'))),
    by: text(row, 'told_by'),
    wokenBy: parsedOrNull(NewsKind, textOrNull(row, 'woken_by')),
    status: PromptStatus.parse(text(row, 'status')),
    abortedAt: integerOrNull(row, 'aborted_at'),
    outcome: fromJson(Outcome, textOrNull(row, 'outcome')),
    createdAt: integer(row, 'created_at'),
    startedAt: integerOrNull(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  }
}
