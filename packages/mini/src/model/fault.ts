import { GATEWAY_BUSY, type TurnFailure, gatewayFailure, secondsText } from '@parley/agent'
import type { ModelLimits } from './model-limits.ts'
import type { ProviderError } from './provider-error.ts'

/** Why one request failed, and whether the same may succeed later. `code` is what the turn ends with when nothing helps. */
export interface ModelFault {
  readonly code: TurnFailure
  readonly message: string
  /** The same in a few words, for those who watch while it is tried again. Left out: the message is short. */
  readonly brief?: string
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
  const final = (code: TurnFailure): ModelFault => ({ code, retry: false, message: wordsOf(error), error })
  if (isOverflow(error)) return final('context_overflow')
  if (error.code === BUDGET_CODE) return final(budgetOf(error.message))
  const asked = askedMs ?? waitInWords(error.message)
  const code = gatewayFailure(error.code) ?? failureOf(error, asked)
  if (!PASSING.has(code)) return final(code)
  if (code === 'model_overloaded' && (asked ?? 0) > limits.askedWaitMs)
    return {
      ...final(code),
      message: `${wordsOf(error)}; it asks to wait ${secondsText(asked ?? 0)}, which is too long to wait for`,
    }
  const waitMs = asked === undefined ? {} : { waitMs: Math.min(asked, limits.askedWaitMs) }
  return { ...final(code), retry: true, brief: briefOf(error, code), ...waitMs }
}

/** What may be over after a while. */
const PASSING: ReadonlySet<TurnFailure> = new Set(['model_overloaded', 'model_unavailable', 'model_unreachable', 'model_timeout'])

function failureOf(error: ProviderError, asked: number | undefined): TurnFailure {
  const { status, code } = error
  if (isOutOfQuota(error, asked)) return 'model_quota'
  if (status === 401 || code === 'invalid_api_key') return 'model_unauthorized'
  if (status === 403) return 'model_forbidden'
  if (isModelMissing(error)) return 'model_not_found'
  if (status === 404 || (status !== null && status < 400)) return 'model_misconfigured'
  if (isOverloaded(error)) return 'model_overloaded'
  return (status === null ? isRefusal(error) : !isPassing(status)) ? 'model_rejected' : 'model_unavailable'
}

const RATE = /rate_limit|too_many_requests|slow_down|overloaded/
const OVERLOADED_STATUSES: ReadonlySet<number | null> = new Set([402, 429, 529])
const isOverloaded = ({ status, code, type }: ProviderError): boolean =>
  OVERLOADED_STATUSES.has(status) || ((status === null || status >= 500) && RATE.test(`${code ?? ''} ${type ?? ''}`))
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 425 || status >= 500

/** `DeploymentNotFound` is how one provider calls a model that is not there. */
const isModelMissing = ({ status, code, message }: ProviderError): boolean =>
  code === 'model_not_found' || (status === 404 && /model|deployment/i.test(`${code ?? ''} ${message}`))

/** Inside a stream there is no status: what is wrong with the request stays wrong, anything else may pass. */
const isRefusal = ({ code, type }: ProviderError): boolean =>
  /^(invalid_|unsupported_|image_|empty_image|failed_to_download_image|cyber_policy|bio_policy)/.test(code ?? '') ||
  type === 'invalid_request_error'

const OVERFLOW_CODES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'model_context_window_exceeded'])
const OVERFLOW_WORDS =
  /maximum context length|exceeds? (the |your )?(model'?s? |available |maximum )*context|context (window|length|size) (of this model )?(is |was )?exceed|prompt is too long|input is too long|too many (input|prompt) tokens|input token count .*exceeds|exceeds the maximum number of tokens|reduce the length of/i

const isOverflow = ({ status, code, type, message }: ProviderError): boolean =>
  status !== 429 &&
  status !== 401 &&
  (OVERFLOW_CODES.has(code ?? '') || OVERFLOW_CODES.has(type ?? '') || OVERFLOW_WORDS.test(message))

/** The gateway's word for a budget of the job or the agent that is used up; which one, its message begins with. */
const BUDGET_CODE = 'budget_exceeded'
function budgetOf(message: string): TurnFailure {
  const which = /\bbudget(?:s\.(?:turn|day|all))?\.(tokens|microusd|requests|wall_ms):/.exec(message)?.[1]
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
  'credit_balance_exhausted',
])

/** With a wait to keep, a 402 is about what is under way at the moment. A request that never fits a rate is refused however long we wait. */
const isOutOfQuota = ({ status, code, type, message }: ProviderError, asked: number | undefined): boolean =>
  (status === 402 && asked === undefined) ||
  QUOTA_CODES.has(code ?? '') ||
  QUOTA_CODES.has(type ?? '') ||
  (status === 429 &&
    /exceeded your current quota|insufficient (credit|balance|quota)|request too large|tokens per (min|day).*requested/i.test(
      message,
    ))

/** "Please try again in 1.898s." */
function waitInWords(message: string): number | undefined {
  const found = /try again in (\d+(?:\.\d+)?) ?(ms|s\b|seconds?)/i.exec(message)
  if (found === null) return undefined
  return Math.ceil(Number(found[1]) * (found[2] === 'ms' ? 1 : 1_000))
}

/** Messages of our own gateway are written for people and go on unchanged; others get the status and the code. */
function wordsOf({ status, code, message }: ProviderError): string {
  if (gatewayFailure(code) !== undefined) return message
  const label = [status === null ? [] : String(status), code ?? []].flat().join(' ')
  return `the provider answered${label === '' ? '' : ` ${label}`}: ${message}`
}

function briefOf({ status, code, message }: ProviderError, failure: TurnFailure): string {
  if (GATEWAY_BUSY.has(code ?? '')) return 'the gateway is busy'
  if (gatewayFailure(code) !== undefined) return message
  const label = status ?? code
  const shown = label === null ? '' : ` (${label})`
  return failure === 'model_overloaded'
    ? `the model is overloaded${shown}${saidText(message)}`
    : `the model’s server failed${shown}`
}

/** The provider's own first sentence, because only it says which limit was reached; nothing where it says no more than we do. */
function saidText(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  const sentence = (/^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line).replace(/[.!]$/, '')
  return sentence === '' || SAYS_NOTHING.test(sentence) ? '' : `: ${sentence}`
}
const SAYS_NOTHING = /^(nothing was said|(the (model|server|engine) is )?(currently )?overloaded|slow down|too many requests)$/i
