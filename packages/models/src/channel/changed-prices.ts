import type { ModelPrices } from '@parley/protocol'

type SomePrices = { readonly [Name in keyof ModelPrices]?: ModelPrices[Name] | undefined }

/** Prices with some of them changed. Left out: stays; null: no price. */
export function changedPrices(before: ModelPrices, changes: SomePrices): ModelPrices {
  const pick = (name: keyof ModelPrices): number | null => (changes[name] === undefined ? before[name] : changes[name])
  return {
    input_microusd_per_1m_tokens: pick('input_microusd_per_1m_tokens'),
    cached_input_microusd_per_1m_tokens: pick('cached_input_microusd_per_1m_tokens'),
    output_microusd_per_1m_tokens: pick('output_microusd_per_1m_tokens'),
    cached_output_microusd_per_1m_tokens: pick('cached_output_microusd_per_1m_tokens'),
    reasoning_microusd_per_1m_tokens: pick('reasoning_microusd_per_1m_tokens'),
  }
}

/** What is played costs nothing, whatever price somebody set for its name. */
export const SCRIPT_PRICES: ModelPrices = {
  input_microusd_per_1m_tokens: 0,
  cached_input_microusd_per_1m_tokens: 0,
  output_microusd_per_1m_tokens: 0,
  cached_output_microusd_per_1m_tokens: 0,
  reasoning_microusd_per_1m_tokens: 0,
}
