import * as z from 'zod'
import { Budget } from './budget.ts'
import { ModelPrices } from './price.ts'
import { ModelWire } from './usage.ts'

/** What an engine needs to reach a model: a short-lived key for the gateway’s own proxy. */
export const PreparedModel = z.object({
  /** Below the URL that the worker dialled; `/responses` or `/chat/completions` follows. */
  base_url: z.string(),
  /** Works while the lease lives that it was made under, for this model alone. */
  api_key: z.string(),
  model: z.string(),
  upstream_channel: z.string(),
  wire: ModelWire,
  expires_at: z.iso.datetime(),
  /** What is left for this attempt or turn. */
  budget: Budget,
  prices: ModelPrices,
  context_tokens: z.int().nullable(),
  /** True: a file is played instead of a model. */
  script: z.boolean(),
})
export type PreparedModel = z.infer<typeof PreparedModel>
