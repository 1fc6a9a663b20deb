import * as z from 'zod'

const Bound = z.int().min(1).nullable().default(null)
const Spending = z.strictObject({ tokens: Bound, microusd: Bound })

/**
 * What a local agent may use up: in one turn, in one day (of UTC), and in all. Null where there is no bound. What its owner may use in a day
 * counts beside it.
 */
export const AgentBudgets = z.strictObject({
  turn: z.strictObject({ requests: Bound, tokens: Bound, microusd: Bound, wall_ms: Bound }).prefault({}),
  day: Spending.prefault({}),
  all: Spending.prefault({}),
})
export type AgentBudgets = z.infer<typeof AgentBudgets>
