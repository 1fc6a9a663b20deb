import * as z from 'zod'
import { ModelPrices } from '../model/price.ts'
import { ENDS, READS, SETS, tool } from '../tool.ts'
import { ChannelName, ModelName } from './models.ts'

/** One model of one channel as an admin sees it. */
export const PricedModel = ModelPrices.extend({
  model: ModelName,
  upstream_channel: ChannelName,
  display_name: z.string(),
  context_tokens: z.int().nullable(),
  /** Whether jobs may name it. */
  active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type PricedModel = z.infer<typeof PricedModel>

export const pricingList = tool({
  name: 'pricing.list',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'The models that are set up, with their prices in micro-USD per million tokens.',
  input: z.strictObject({}),
  output: z.object({ items: z.array(PricedModel) }),
  annotations: READS,
})

export const pricingSet = tool({
  name: 'pricing.set',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Adds a model of a channel or changes it. Left out: stays as it is; null: no price. What was booked keeps the prices of its day.',
  input: ModelPrices.partial()
    .extend({
      model: ModelName,
      upstream_channel: ChannelName,
      display_name: z.string().max(128).optional(),
      context_tokens: z.int().min(1_000).max(100_000_000).nullable().optional(),
      active: z.boolean().optional(),
    })
    .strict(),
  output: PricedModel,
  annotations: SETS,
})

export const pricingDelete = tool({
  name: 'pricing.delete',
  roles: ['admin'],
  scopes: ['admin'],
  doc: 'Removes a model of a channel. What was booked stays.',
  input: z.strictObject({ model: ModelName, upstream_channel: ChannelName }),
  output: z.object({ model: ModelName, upstream_channel: ChannelName, deleted: z.literal(true) }),
  annotations: ENDS,
})
