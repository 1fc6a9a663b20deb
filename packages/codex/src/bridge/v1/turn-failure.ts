import type { TurnFailure } from '@parley/agent'

/** What old versions say when a turn fails is one sentence; the first row that fits says what it was. */
const WORDS: readonly (readonly [RegExp, TurnFailure])[] = [
  [/context (window|length)|context_length_exceeded|too many tokens/i, 'context_overflow'],
  [/usage limit|insufficient_quota|quota|rate limit/i, 'model_quota'],
  [/missing environment variable|invalid_api_key|not logged in|refresh token|unauthorized/i, 'model_unauthorized'],
  [
    /stream disconnected|error sending request|timed? ?out|timeout|connection|exceeded retry limit|internal server error/i,
    'model_unavailable',
  ],
]

const STATUS = /status:? (\d{3})/i

/** Why a turn failed, from the words of the `error` event. */
export function failureOf(message: string): TurnFailure {
  const status = Number(STATUS.exec(message)?.[1] ?? 0)
  const byWords = WORDS.find(([pattern]) => pattern.test(message))?.[1]
  if (byWords === 'context_overflow') return byWords
  return byStatus(status) ?? byWords ?? 'internal'
}

function byStatus(status: number): TurnFailure | undefined {
  if (status === 401 || status === 403) return 'model_unauthorized'
  if (status === 402 || status === 429) return 'model_quota'
  if (status === 408 || status >= 500) return 'model_unavailable'
  return status >= 400 ? 'model_rejected' : undefined
}
