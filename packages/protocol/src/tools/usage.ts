import * as z from 'zod'
import { AgentId, JobId, UsageId, UserId } from '../ids.ts'
import { ModelPrices } from '../model/price.ts'
import { TokenUsage } from '../model/usage.ts'
import { READS, SETS, tool } from '../tool.ts'

/**
 * Sums over calls. `cost_microusd` is of the priced ones, `unpriced_calls` says how many are not in it; null where none of the
 * calls has a price, which is not the same as nothing.
 */
export const UsageTotal = TokenUsage.extend({
  calls: z.int(),
  unpriced_calls: z.int(),
  /** Calls whose stream was cut, so that their tokens are our own estimate. */
  estimated_calls: z.int(),
  cost_microusd: z.int().nullable(),
})
export type UsageTotal = z.infer<typeof UsageTotal>

/** One bound of a day and how far it is used up; `limit` null: none. */
const Meter = z.object({ used: z.int(), limit: z.int().nullable() })

/** What a person may use, and when the day's part of it starts anew. */
export const Quota = z.object({
  jobs_at_once: Meter,
  tokens_per_day: Meter,
  microusd_per_day: Meter,
  /** What all that is kept for them takes: uploads, and texts, files, logs and artifacts of their jobs; also what was deleted and is not gone yet. */
  kept_bytes: Meter,
  /** Jobs that are there, ended ones too. */
  kept_jobs: Meter,
  resets_at: z.iso.datetime(),
})
export type Quota = z.infer<typeof Quota>

/** One call of a model. Prices are those of the day it was made. */
export const UsageEvent = TokenUsage.extend({
  id: UsageId,
  at: z.iso.datetime(),
  job_id: JobId.nullable(),
  /** The agent that made it, and the number of the prompt that it answered. */
  agent_id: AgentId.nullable(),
  prompt: z.int().nullable(),
  owner_user_id: UserId.nullable(),
  /** Of a job; null for a call of an agent. */
  claim: z.int().nullable(),
  attempt: z.int().nullable(),
  call_id: z.string(),
  upstream_channel: z.string().nullable(),
  model: z.string(),
  /** `proxy`: counted as it passed the gateway. `judge`: told by a judge. `script`: played from a file, no model was asked. */
  source: z.enum(['proxy', 'judge', 'script']),
  estimated: z.boolean(),
  /** Null: there was no price. */
  cost_microusd: z.int().nullable(),
  prices: ModelPrices.nullable(),
})
export type UsageEvent = z.infer<typeof UsageEvent>

const Range = { from: z.iso.datetime().optional(), to: z.iso.datetime().optional() }

export const usageSummary = tool({
  name: 'usage.summary',
  roles: ['user'],
  scopes: ['read'],
  doc: 'What your calls of models came to, by UTC day, model, job, agent or person, of one agent by `agent_id`, and what is left of your quota. An admin sees everybody’s, or one person’s by `owner_user_id`.',
  input: z.strictObject({
    ...Range,
    group_by: z.enum(['day', 'model', 'job', 'agent', 'user']).default('day'),
    agent_id: AgentId.optional(),
    owner_user_id: UserId.optional(),
    limit: z.int().min(1).max(1_000).default(100),
  }),
  output: z.object({
    total: UsageTotal,
    groups: z.array(UsageTotal.extend({ key: z.string().nullable() })),
    quota: Quota,
  }),
  annotations: READS,
})

export const usageEvents = tool({
  name: 'usage.events',
  roles: ['user'],
  scopes: ['read'],
  doc: 'Your calls of models, newest first. An admin sees everybody’s.',
  input: z.strictObject({
    ...Range,
    job_id: JobId.optional(),
    agent_id: AgentId.optional(),
    owner_user_id: UserId.optional(),
    limit: z.int().min(1).max(200).default(50),
    /** `next` of the page before. */
    before: UsageId.optional(),
  }),
  output: z.object({ items: z.array(UsageEvent), next: UsageId.nullable() }),
  annotations: READS,
})

const Limit = z.int().min(0).nullable().optional()
/** More than this would take too long to count whenever something is added. */
const KeptJobs = z.int().min(0).max(20_000).nullable().optional()

export const userSetQuota = tool({
  name: 'user.set_quota',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Bounds what one person may use: jobs at once, tokens and micro-USD per UTC day, and what is kept for them: bytes and jobs. Left out: stays; null: the installation’s own bound.',
  input: z.strictObject({
    username: z.string().min(1).max(64),
    jobs_at_once: Limit,
    tokens_per_day: Limit,
    microusd_per_day: Limit,
    kept_bytes: Limit,
    kept_jobs: KeptJobs,
  }),
  output: z.object({ username: z.string(), quota: Quota }),
  annotations: SETS,
})
