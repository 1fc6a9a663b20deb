import * as z from 'zod'
import { READS, tool } from '../tool.ts'

/** A model that jobs may name, with its prices in micro-USD per million tokens; null where there is no price. */
export const Model = z.object({
  model: z.string(),
  upstream_channel: z.string(),
  display_name: z.string(),
  currency: z.literal('USD'),
  unit: z.string(),
  input_microusd_per_1m_tokens: z.int().nullable(),
  cached_input_microusd_per_1m_tokens: z.int().nullable(),
  output_microusd_per_1m_tokens: z.int().nullable(),
  cached_output_microusd_per_1m_tokens: z.int().nullable(),
})
export type Model = z.infer<typeof Model>

export const modelsList = tool({
  name: 'models.list',
  roles: ['user'],
  doc: 'The models that job.create takes; none until an upstream is set up. `live` asks the upstreams too.',
  input: z.strictObject({ live: z.boolean().default(true) }),
  output: z.object({ items: z.array(Model) }),
  annotations: READS,
})
