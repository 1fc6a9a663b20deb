import { AgentId, JobId, ModelPrices, TokenUsage, UsageId, type UsageTotal, UserId } from '@parley/protocol'
import {
  type Row,
  type Value,
  InvalidArgument,
  flag,
  fromJson,
  integer,
  integerOrNull,
  parsedOrNull,
  text,
  textOrNull,
  toJson,
} from '@parley/database'
import { checkInteger, checkName, checkText } from '../../limits.ts'
import type { UsageRecord } from './usage.ts'

/** No model reads or writes as much in one call: whoever says so is broken, and a sum over such calls would mean nothing. */
const MAX_CALL_TOKENS = 1_000_000_000_000
const MAX_CALL_MICROUSD = 1_000_000_000_000_000
const MAX_TEXT_BYTES = 1024

/** A call before it has an id and a time. */
export type NewCall = Omit<UsageRecord, 'id' | 'at'>

export function toUsage(row: Row | undefined): UsageRecord | undefined {
  if (row === undefined) return undefined
  return {
    id: UsageId.parse(text(row, 'id')),
    status: toStatus(text(row, 'status')),
    jobId: parsedOrNull(JobId, textOrNull(row, 'job_id')),
    agentId: parsedOrNull(AgentId, textOrNull(row, 'agent_id')),
    prompt: integerOrNull(row, 'prompt'),
    ownerId: parsedOrNull(UserId, textOrNull(row, 'owner_id')),
    claimId: text(row, 'claim_id'),
    claim: integer(row, 'claim'),
    attempt: integer(row, 'attempt'),
    callId: text(row, 'call_id'),
    channel: textOrNull(row, 'channel'),
    model: text(row, 'model'),
    threadId: textOrNull(row, 'thread_id'),
    source: toSource(text(row, 'source')),
    estimated: flag(row, 'estimated'),
    tokens: toTokens(row),
    prices: fromJson(ModelPrices, textOrNull(row, 'prices')),
    costMicrousd: integerOrNull(row, 'cost_microusd'),
    at: integer(row, 'at'),
  }
}

/** The values of a new row, in the order of its columns. */
export function usageValues(call: NewCall, id: UsageId, at: number): readonly Value[] {
  const {
    status,
    jobId,
    agentId,
    prompt,
    ownerId,
    claimId,
    claim,
    attempt,
    callId,
    channel,
    model,
    threadId,
    source,
    estimated,
  } = call
  checkName('claimId', claimId)
  checkInteger('claim', claim, 0)
  checkInteger('attempt', attempt, 0)
  checkName('callId', callId)
  if (prompt !== null) checkInteger('prompt', prompt, 1)
  if (channel !== null) checkName('channel', channel)
  checkText('model', model, MAX_TEXT_BYTES)
  if (threadId !== null) checkText('threadId', threadId, MAX_TEXT_BYTES)
  const prices = call.prices === null ? null : toJson('prices', ModelPrices, call.prices)
  const names = [id, status, jobId, ownerId, claimId, claim, attempt, callId, channel, model, threadId, source, estimated ? 1 : 0]
  return [...names, ...tokenValues(call.tokens), prices, costValue(call.costMicrousd), at, agentId, prompt]
}

/** The five counts, in the order of their columns. */
export function tokenValues(tokens: TokenUsage): readonly number[] {
  const read = TokenUsage.safeParse(tokens)
  if (!read.success) throw new InvalidArgument('tokens', `cannot be stored: ${read.error.message}`)
  const { input_tokens, cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens } = read.data
  const values = { input_tokens, cached_input_tokens, output_tokens, cached_output_tokens, reasoning_output_tokens }
  for (const [field, value] of Object.entries(values)) checkInteger(`tokens.${field}`, value, 0, MAX_CALL_TOKENS)
  return Object.values(values)
}

export function costValue(costMicrousd: number | null): number | null {
  if (costMicrousd !== null) checkInteger('costMicrousd', costMicrousd, 0, MAX_CALL_MICROUSD)
  return costMicrousd
}

export function toTotal(row: Row): UsageTotal {
  const [calls, unpriced] = [integer(row, 'calls'), integer(row, 'unpriced_calls')]
  return {
    ...toTokens(row),
    calls,
    unpriced_calls: unpriced,
    estimated_calls: integer(row, 'estimated_calls'),
    cost_microusd: calls > 0 && unpriced === calls ? null : integer(row, 'cost_microusd'),
  }
}

function toTokens(row: Row): TokenUsage {
  return {
    input_tokens: integer(row, 'input_tokens'),
    cached_input_tokens: integer(row, 'cached_input_tokens'),
    output_tokens: integer(row, 'output_tokens'),
    cached_output_tokens: integer(row, 'cached_output_tokens'),
    reasoning_output_tokens: integer(row, 'reasoning_output_tokens'),
  }
}

function toStatus(value: string): UsageRecord['status'] {
  if (value === 'reserved' || value === 'booked') return value
  throw new TypeError(`a call of a model is ${value}`)
}

function toSource(value: string): UsageRecord['source'] {
  if (value === 'proxy' || value === 'judge' || value === 'script') return value
  throw new TypeError(`a call of a model was told by ${value}`)
}
