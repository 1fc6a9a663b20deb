import { type Budget, type PreparedModel, iso } from '@parley/protocol'
import type { ReachableModel } from '@parley/models'

/** What an engine hears about the model that its key works for, whoever runs it. */
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
