import { JudgeFacts, TokenId } from '@parley/protocol'
import { type Row, flag, fromJson, integer, integerOrNull, parsedOrNull, text, textOrNull } from '@parley/database'
import type { JudgeRecord } from './judge.ts'

export function toJudge(row: Row | undefined): JudgeRecord | undefined {
  if (row === undefined) return undefined
  return {
    machineId: text(row, 'machine_id'),
    name: text(row, 'name'),
    tokenId: parsedOrNull(TokenId, textOrNull(row, 'token_id')),
    drain: flag(row, 'drain'),
    firstSeenAt: integer(row, 'first_seen_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    leftAt: integerOrNull(row, 'left_at'),
    facts: fromJson(JudgeFacts, textOrNull(row, 'facts')),
  }
}
