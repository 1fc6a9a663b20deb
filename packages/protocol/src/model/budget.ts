import * as z from 'zod'

const Bound = z.int().min(1).nullable()

/** What a turn or an attempt may use up; null where there is no bound. Each ends the turn with a code of its own. */
export const Budget = z.object({
  /** Requests to the model. */
  requests: Bound,
  /** Input and output together; cached ones count. */
  tokens: Bound,
  microusd: Bound,
  wall_ms: Bound,
})
export type Budget = z.infer<typeof Budget>

export const NO_BUDGET: Budget = { requests: null, tokens: null, microusd: null, wall_ms: null }

/** What a person may bound a whole job by. */
export const JobBudget = z.object({ tokens: Bound, microusd: Bound })
export type JobBudget = z.infer<typeof JobBudget>
