import type { TurnEnd } from '@parley/agent'
import { AGENT_LIMITS, messageOf, type PromptOutcome, ToolError } from '@parley/protocol'

const CUT = '…'

/** How a turn of an engine ended, as its prompt says it. */
export function outcomeOf(end: TurnEnd): PromptOutcome {
  switch (end.kind) {
    case 'completed':
      return { status: 'completed', code: null, message: answer(end.message) }
    case 'interrupted':
      return INTERRUPTED
    case 'failed':
      return failedWith(end.code, end.message)
  }
}

/** Failures after which an engine is not to be trusted with another turn. */
export const BROKEN: ReadonlySet<string | null> = new Set(['engine_lost', 'internal'])

/** Nothing was to be said. */
export const DONE: PromptOutcome = { status: 'completed', code: null, message: '' }

export const INTERRUPTED: PromptOutcome = { status: 'interrupted', code: null, message: '' }

export const failedWith = (code: string, message: string): PromptOutcome => ({
  status: 'failed',
  code,
  message: answer(message),
})

/** Whether the gateway says that the agent is not this host's any more: nothing more is to be said about it. */
export const isLost = (error: unknown): boolean => error instanceof ToolError && error.code === 'lease_lost'

/** Why there is no key for a turn, as failures of turns are called. */
export function unprepared(error: unknown): PromptOutcome {
  if (!(error instanceof ToolError)) return failedWith('model_unavailable', messageOf(error))
  const { code, message, hint } = error
  const words = code === 'not_found' && hint !== undefined ? `${message}; ${hint}` : message
  if (code === 'quota_exceeded') return failedWith(budgetCode(message), words)
  return failedWith(PREPARE_CODES[code] ?? 'model_unavailable', words)
}

const PREPARE_CODES: Partial<Record<ToolError['code'], string>> = {
  invalid_argument: 'model_rejected',
  not_found: 'model_not_found',
  conflict: 'model_rejected',
}

/** A budget of the agent's own is named as it is when it runs out in the middle. */
function budgetCode(message: string): string {
  const [, what] = /^budgets?\.(?:\w+\.)?(requests|tokens|microusd|wall_ms)\b/.exec(message) ?? []
  if (what === undefined) return 'budget_quota'
  return BUDGET_CODES[what] ?? `budget_${what}`
}

const BUDGET_CODES: Readonly<Record<string, string>> = { microusd: 'budget_money', wall_ms: 'budget_time' }

/** No longer than a prompt keeps; never half of a character. */
function answer(text: string): string {
  // The bound is on units of UTF-16 and on what is stored: a character takes three bytes of it at most.
  const chars = Math.floor(AGENT_LIMITS.answerBytes / 3)
  if (text.length <= chars) return text
  return `${text.slice(0, chars - CUT.length).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`
}
