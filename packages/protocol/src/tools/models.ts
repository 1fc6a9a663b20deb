import * as z from 'zod'
import { ModelPrices } from '../model/price.ts'
import { READS, tool } from '../tool.ts'

export const ChannelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 small letters, digits, dots, underscores or hyphens')
export const ModelName = z.string().min(1).max(256)

/** A model that jobs may name, with its prices in micro-USD per million tokens; null where there is no price. */
export const Model = ModelPrices.extend({
  model: ModelName,
  upstream_channel: ChannelName,
  display_name: z.string(),
  currency: z.literal('USD'),
  unit: z.string(),
  /** False: what it costs is not known, which is not the same as nothing. */
  priced: z.boolean(),
  /** True: no model answers, a file is played. */
  script: z.boolean(),
  /** Whether the upstream names it right now; null when it was not asked. */
  live: z.boolean().nullable(),
  context_tokens: z.int().nullable(),
})
export type Model = z.infer<typeof Model>

/** What became of asking one channel for its models. */
export const ChannelCheck = z.object({
  channel: ChannelName,
  ok: z.boolean(),
  error: z.string().nullable(),
  checked_at: z.iso.datetime().nullable(),
})
export type ChannelCheck = z.infer<typeof ChannelCheck>

export const modelsList = tool({
  name: 'models.list',
  roles: ['user'],
  scopes: ['jobs', 'agents'],
  doc: 'The models that job.create takes; none until a channel is set up. `live` asks the upstreams too; one that does not answer in time is named in `channels` and stalls nobody.',
  input: z.strictObject({ live: z.boolean().default(true) }),
  output: z.object({ items: z.array(Model), channels: z.array(ChannelCheck) }),
  annotations: READS,
})
