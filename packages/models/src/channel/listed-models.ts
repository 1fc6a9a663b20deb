import { type Model, type ModelScript, NO_PRICES, isPriced } from '@parley/protocol'
import type { ChannelRecord, ModelRecord } from '@parley/store'
import { SCRIPT_PRICES } from './changed-prices.ts'

const CURRENCY = 'USD'
const UNIT = 'micro-USD per 1M tokens'
const SCRIPT_MARK = '(script)'

/** The models of a channel as people see them. `named` is what its upstream lists; `undefined` when it was not asked. */
export function upstreamItems(
  channel: Pick<ChannelRecord, 'name'>,
  records: readonly ModelRecord[],
  upstream: { readonly named?: readonly string[]; readonly remembered: readonly string[] },
): Model[] {
  const named = upstream.named === undefined ? undefined : new Set(upstream.named)
  const known = new Set(records.map(({ model }) => model))
  const setUp = records
    .filter(({ active }) => active)
    .map((record) =>
      itemOf(record.model, channel.name, {
        ...record,
        script: false,
        live: named === undefined ? null : named.has(record.model),
      }),
    )
  const others = (upstream.named ?? upstream.remembered)
    .filter((model) => !known.has(model))
    .map((model) =>
      itemOf(model, channel.name, {
        displayName: model,
        contextTokens: null,
        prices: NO_PRICES,
        script: false,
        live: named === undefined ? null : true,
      }),
    )
  return [...setUp, ...others]
}

/** The model of a script; none when it was taken out of use. */
export function scriptItems(
  channel: Pick<ChannelRecord, 'name'>,
  record: ModelRecord | undefined,
  script: ModelScript,
  live: boolean,
): Model[] {
  if (record?.active === false) return []
  const name = record?.displayName ?? script.display_name
  return [
    itemOf(script.model, channel.name, {
      displayName: name.includes(SCRIPT_MARK) ? name : `${name} ${SCRIPT_MARK}`,
      contextTokens: record?.contextTokens ?? script.context_tokens,
      prices: SCRIPT_PRICES,
      script: true,
      live: live ? true : null,
    }),
  ]
}

export function byChannelAndModel(one: Model, other: Model): number {
  return compare(one.upstream_channel, other.upstream_channel) || compare(one.model, other.model)
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

function itemOf(
  model: string,
  channel: string,
  more: Pick<ModelRecord, 'displayName' | 'contextTokens' | 'prices'> & Pick<Model, 'script' | 'live'>,
): Model {
  return {
    model,
    upstream_channel: channel,
    display_name: more.displayName === '' ? model : more.displayName,
    currency: CURRENCY,
    unit: UNIT,
    ...more.prices,
    priced: isPriced(more.prices),
    script: more.script,
    live: more.live,
    context_tokens: more.contextTokens,
  }
}
