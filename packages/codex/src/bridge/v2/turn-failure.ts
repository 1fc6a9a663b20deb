import type { TurnEnd, TurnFailure } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject, parseForeign } from '@parley/protocol'
import { numberOrNull, objectOf, objectOrNull, textOf } from './fields.ts'

/** Codex's own words for what went wrong, in ours. */
const CODES: Readonly<Record<string, TurnFailure>> = {
  contextWindowExceeded: 'context_overflow',
  sessionBudgetExceeded: 'budget_tokens',
  usageLimitExceeded: 'model_quota',
  rateLimitExceeded: 'model_quota',
  flexUnavailable: 'model_unavailable',
  serverOverloaded: 'model_unavailable',
  internalServerError: 'model_unavailable',
  policyCapacityUnavailable: 'model_unavailable',
  modelNotFound: 'model_rejected',
  badRequest: 'model_rejected',
  unauthorized: 'model_unauthorized',
  cyberPolicy: 'model_refusal',
  misalignmentPolicyViolation: 'model_refusal',
  tooManyDenials: 'denied',
  sandboxError: 'internal',
  threadRollbackFailed: 'internal',
}
/** Those that carry the status of the provider's answer, and mean no answer without one. */
const WITH_STATUS = [
  'httpConnectionFailed',
  'responseStreamConnectionFailed',
  'responseStreamDisconnected',
  'responseTooManyFailedAttempts',
]

/** How a failed turn ended, from the error that Codex told. */
export function turnFailureOf(error: JsonObject): Extract<TurnEnd, { kind: 'failed' }> {
  const message = textOf(error, 'message') || 'Codex did not say what went wrong'
  return { kind: 'failed', code: codeOf(error['codexErrorInfo'], message), message: plain(message) }
}

function codeOf(info: JsonValue | undefined, message: string): TurnFailure {
  if (typeof info === 'string' && info !== 'other') return CODES[info] ?? 'internal'
  if (isJsonObject(info)) {
    const name = WITH_STATUS.find((one) => one in info)
    if (name !== undefined) return byStatus(numberOrNull(objectOf(info, name), 'httpStatusCode') ?? statusIn(message))
  }
  const status = statusIn(message)
  if (status !== null) return byStatus(status)
  // A body of the provider as it is: Codex passes on what was refused with 400 like that.
  if (providerError(message) !== null) return 'model_rejected'
  return /stream (disconnected|closed)|error sending request|connection/i.test(message) ? 'model_unavailable' : 'internal'
}

function byStatus(status: number | null): TurnFailure {
  if (status === null) return 'model_unavailable'
  if (status === 401 || status === 403) return 'model_unauthorized'
  if (status === 402 || status === 429) return 'model_quota'
  return status >= 400 && status < 500 && status !== 408 ? 'model_rejected' : 'model_unavailable'
}

/** `unexpected status 401 Unauthorized: …` */
function statusIn(message: string): number | null {
  const found = /\bstatus(?: code)?:? (\d{3})\b/.exec(message)?.[1]
  return found === undefined ? null : Number(found)
}

function providerError(message: string): JsonObject | null {
  const body = message.startsWith('{') ? parseForeign(message) : undefined
  return isJsonObject(body) ? objectOrNull(body, 'error') : null
}

/** The sentence in it, where Codex hands on the whole body. */
function plain(message: string): string {
  const error = providerError(message)
  return error === null ? message : textOf(error, 'message') || message
}
