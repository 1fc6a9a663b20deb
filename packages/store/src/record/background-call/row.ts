import { AgentId, BackgroundArguments, BackgroundCallEnd, BackgroundCallState, CallId, parseJson } from '@parley/protocol'
import { type Row, fromJson, integer, integerOrNull, text, textOrNull, toJson } from '@parley/database'
import type { BackgroundCallRecord } from './background-call.ts'

const Result = BackgroundCallEnd.shape.result
const Message = BackgroundCallEnd.shape.message

/** As JSON, because what others say may hold what neither engine stores. */
export const argumentsColumn = (value: string): string => toJson('arguments', BackgroundArguments, value)
export const resultColumn = (value: string | null): string | null => (value === null ? null : toJson('result', Result, value))
export const messageColumn = (value: string): string => toJson('message', Message, value)

export const argumentsOf = (row: Row): string => BackgroundArguments.parse(parseJson(text(row, 'arguments')))
export const resultOf = (row: Row): string | null => fromJson(Result, textOrNull(row, 'result')) ?? null

export const toBackgroundCall = (row: Row): BackgroundCallRecord => ({
  id: CallId.parse(text(row, 'id')),
  agentId: AgentId.parse(text(row, 'agent_id')),
  tool: text(row, 'tool'),
  state: BackgroundCallState.parse(text(row, 'state')),
  isError: integer(row, 'error') === 1,
  message: Message.parse(parseJson(text(row, 'message'))),
  resultBytes: integerOrNull(row, 'result_bytes'),
  isCut: integer(row, 'cut') === 1,
  startedAt: integer(row, 'started_at'),
  endedAt: integerOrNull(row, 'ended_at'),
})
