import { type Budget, type ModelPrices, type ModelWire, iso } from '@parley/protocol'
import type { ReachableModel } from '@parley/models'

/** What an engine hears about the model that its key works for, whoever runs it. */
interface PreparedModel {
  readonly base_url: string
  readonly api_key: string
  readonly model: string
  readonly upstream_channel: string
  readonly wire: ModelWire
  readonly expires_at: string
  readonly budget: Budget
  readonly prices: ModelPrices
  readonly context_tokens: number | null
  readonly script: boolean
}

export function preparedModel(
  { channel, model, prices, contextTokens, script }: ReachableModel,
  key: { readonly baseUrl: string; readonly apiKey: string; readonly expiresAt: number; readonly budget: Budget },
): PreparedModel {
  return {
    base_url: key.baseUrl,
    api_key: key.apiKey,
    model,
    upstream_channel: channel.name,
    wire: channel.wire,
    expires_at: iso(key.expiresAt),
    budget: key.budget,
    prices,
    context_tokens: contextTokens,
    script: script !== null,
  }
}
