import type { TurnFailure } from '../event.ts'
import type { ModelLimits } from './model-limits.ts'
import type { ProviderError } from './provider-error.ts'

/** Why one request failed, and whether the same may succeed later. `code` is what the turn ends with when nothing helps. */
export interface ModelFault {
  readonly code: TurnFailure
  readonly message: string
  readonly retry: boolean
  /** The answer began and did not end. */
  readonly cut?: boolean
  /** What the provider asked us to wait. */
  readonly waitMs?: number
  /** What the provider said, where it did: there may be something to leave out. */
  readonly error?: ProviderError
}

/** What an error of a provider means for us. `askedMs`: how long it asked us to wait. */
export function faultOf(error: ProviderError, askedMs: number | undefined, limits: ModelLimits): ModelFault {
  const fault = (code: TurnFailure, retry: boolean): ModelFault => ({ code, retry, message: wordsOf(error), error })
  const { status } = error
  if (isOverflow(error)) return fault('context_overflow', false)
  if (error.code === BUDGET_CODE) return fault(budgetOf(error.message), false)
  if (isOutOfQuota(error)) return fault('model_quota', false)
  if (status === 401 || status === 403 || error.code === 'invalid_api_key') return fault('model_unauthorized', false)
  if (CHANNEL_CODES.has(error.code ?? '')) return fault('model_unauthorized', false)
  const asked = askedMs ?? waitInWords(error.message)
  if (status === 429 || (status === null && RATE.test(`${error.code ?? ''} ${error.type ?? ''}`))) {
    // One that never fits the rate is refused again however long we wait.
    const isTooLarge = /request too large|tokens per (min|day).*requested/i.test(error.message)
    if (isTooLarge || (asked ?? 0) > limits.askedWaitMs) return fault('model_quota', false)
    return { ...fault('model_quota', true), ...waiting(asked) }
  }
  if (status === null ? isRefusal(error) : !isPassing(status)) return fault('model_rejected', false)
  return { ...fault('model_unavailable', true), ...waiting(asked === undefined ? asked : Math.min(asked, limits.askedWaitMs)) }
}

/** The gateway's words for an upstream that stays as it is until an admin has changed its channel. */
const CHANNEL_CODES = new Set(['upstream_unauthorized', 'upstream_redirected'])

const waiting = (waitMs: number | undefined): { readonly waitMs?: number } => (waitMs === undefined ? {} : { waitMs })

const RATE = /rate_limit|too_many_requests|slow_down/
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 425 || status >= 500

/** Inside a stream there is no status: what is wrong with the request stays wrong, anything else may pass. */
const isRefusal = ({ code, type }: ProviderError): boolean =>
  /^(invalid_|unsupported_|image_|empty_image|failed_to_download_image|cyber_policy|bio_policy|model_not_found)/.test(
    code ?? '',
  ) || type === 'invalid_request_error'

const OVERFLOW_CODES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'model_context_window_exceeded'])
const OVERFLOW_WORDS =
  /maximum context length|exceeds? (the |your )?(model'?s? |available |maximum )*context|context (window|length|size) (of this model )?(is |was )?exceed|prompt is too long|input is too long|too many (input|prompt) tokens|input token count .*exceeds|exceeds the maximum number of tokens|reduce the length of/i

const isOverflow = ({ status, code, type, message }: ProviderError): boolean =>
  status !== 429 &&
  status !== 401 &&
  (OVERFLOW_CODES.has(code ?? '') || OVERFLOW_CODES.has(type ?? '') || OVERFLOW_WORDS.test(message))

/** The gateway's word for a budget of the job that is used up; which one, its message begins with. */
const BUDGET_CODE = 'budget_exceeded'
function budgetOf(message: string): TurnFailure {
  const which = /\bbudget\.(tokens|microusd|requests|wall_ms):/.exec(message)?.[1]
  return BUDGETS.get(which ?? '') ?? 'model_quota'
}
const BUDGETS: ReadonlyMap<string, TurnFailure> = new Map([
  ['tokens', 'budget_tokens'],
  ['microusd', 'budget_money'],
  ['requests', 'budget_requests'],
  ['wall_ms', 'budget_time'],
])

const QUOTA_CODES = new Set([
  'insufficient_quota',
  'quota_exceeded',
  'usage_limit_reached',
  'usage_not_included',
  'billing_hard_limit_reached',
  'billing_not_active',
  'insufficient_balance',
])

const isOutOfQuota = ({ status, code, type, message }: ProviderError): boolean =>
  status === 402 ||
  QUOTA_CODES.has(code ?? '') ||
  QUOTA_CODES.has(type ?? '') ||
  (status === 429 && /exceeded your current quota|insufficient (credit|balance|quota)/i.test(message))

/** "Please try again in 1.898s." */
function waitInWords(message: string): number | undefined {
  const found = /try again in (\d+(?:\.\d+)?) ?(ms|s\b|seconds?)/i.exec(message)
  if (found === null) return undefined
  return Math.ceil(Number(found[1]) * (found[2] === 'ms' ? 1 : 1_000))
}

function wordsOf({ status, code, message }: ProviderError): string {
  const label = [status === null ? [] : String(status), code ?? []].flat().join(' ')
  return `the provider answered${label === '' ? '' : ` ${label}`}: ${message}`
}
