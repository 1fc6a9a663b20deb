import type { ModelPrices, ModelScript } from '@parley/protocol'
import { NO_PRICES } from '@parley/protocol'

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

/** The script's own prices, where nobody set another. */
export function scriptPrices(set: ModelPrices | undefined, script: ModelScript): ModelPrices {
  const own = changedPrices(NO_PRICES, script.prices)
  if (set === undefined) return own
  return changedPrices(own, Object.fromEntries(Object.entries(set).filter(([, price]) => price !== null)))
}
