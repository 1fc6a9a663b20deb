import type { OptionSpec } from '@parley/command-line'

/** What an agent may use up. */
export const BUDGET_OPTIONS = {
  'turn-tokens': { doc: 'tokens that one turn may use', value: 'N' },
  'turn-usd': { doc: 'dollars that one turn may cost: 0.50', value: 'USD' },
  'turn-requests': { doc: 'requests to the model in one turn', value: 'N' },
  'turn-time': { doc: 'how long one turn may take: 90s, 30m, 2h', value: 'TIME' },
  'day-tokens': { doc: 'tokens in one day, of UTC', value: 'N' },
  'day-usd': { doc: 'dollars in one day', value: 'USD' },
  'all-tokens': { doc: 'tokens in all', value: 'N' },
  'all-usd': { doc: 'dollars in all', value: 'USD' },
  'no-budgets': { doc: 'none of the budgets that it had; those given beside it hold' },
} as const satisfies Record<string, OptionSpec>
