import { AgentBudgets } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { parseDuration, wholeNumber } from '@parley/command-line/commands'
import { BUDGET_OPTIONS } from './budget-options.ts'
import { dollarsOf } from '../dollars.ts'

const COUNT = { min: 1, max: 1_000_000_000_000 }
const SPANS = ['turn', 'day', 'all'] as const

export const hasBudgets = (values: Invocation['values']): boolean => Object.keys(BUDGET_OPTIONS).some((name) => values.has(name))

/** The budgets of an agent with what the options change of them. */
export function budgetsOf(values: Invocation['values'], before: AgentBudgets = NONE): AgentBudgets {
  const from = values.has('no-budgets') ? NONE : before
  const [turn, day, all] = SPANS.map((span) => {
    const tokens = wholeNumber(values, `${span}-tokens`, COUNT) ?? from[span].tokens
    return { tokens, microusd: dollarsOf(values, `${span}-usd`) ?? from[span].microusd }
  })
  const requests = wholeNumber(values, 'turn-requests', COUNT) ?? from.turn.requests
  const time = values.text('turn-time')
  const wall_ms = time === undefined ? from.turn.wall_ms : parseDuration('--turn-time', time) * 1_000
  const budgets = AgentBudgets.safeParse({ turn: { ...turn, requests, wall_ms }, day, all })
  if (budgets.success) return budgets.data
  throw usageError(`the budgets are wrong: ${budgets.error.issues[0]?.message}`)
}

const NONE = AgentBudgets.parse({})

/** In words, those that there are. */
export function budgetsText({ turn, day, all }: AgentBudgets): string {
  const words = (span: string, { tokens, microusd }: AgentBudgets['day']): string[] => [
    ...(tokens === null ? [] : [`${tokens} tokens ${span}`]),
    ...(microusd === null ? [] : [`$${microusd / 1_000_000} ${span}`]),
  ]
  return [
    ...words('a turn', turn),
    ...(turn.requests === null ? [] : [`${turn.requests} requests a turn`]),
    ...(turn.wall_ms === null ? [] : [`${turn.wall_ms / 1_000} s a turn`]),
    ...words('a day', day),
    ...words('in all', all),
  ].join(', ')
}
