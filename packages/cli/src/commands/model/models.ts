import type { SteadyClient } from '@parley/client'
import {
  type Channel,
  type ChannelCheck,
  type Model,
  type ModelPrices,
  type ToolInput,
  type ToolOutput,
  ChannelKind,
  ChannelName,
  ModelWire,
  dollars,
} from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { readSecretLine, show, wholeNumber } from '@parley/command-line/commands'
import { inCommands } from '@parley/command-line/wording'
import { columns } from '@parley/screen'
import { withCaller } from '../../caller/with-caller.ts'

const MODEL_HEADER = ['model', 'channel', 'input', 'cached', 'output', 'reasoning', 'context', 'live', 'what']
const CHANNEL_HEADER = ['channel', 'kind', 'where', 'wire', 'key', 'state', 'set by']
const CONTEXT = { min: 1_000, max: 100_000_000 }
/** Dollars per million tokens are what providers name; the same as micro-USD per token. */
const MICROUSD = 1_000_000
const PRICE_USD_MAX = 1_000_000

/** The models that jobs may name, prices in dollars per million tokens. */
export const modelList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const { io, values } = invocation
    const result = values.has('live') ? await listLive(caller) : await caller.call('models.list', { live: false })
    if (!values.has('json')) {
      if (result.items.length === 0) io.err('there is no model; parley channel set makes a way to some\n')
      for (const check of result.channels.filter(({ ok }) => !ok)) io.err(`${faultText(check)}\n`)
    }
    return show(
      invocation,
      result,
      columns([MODEL_HEADER, ...result.items.map(modelRow)], io.screen(), { mayGo: ['cached', 'reasoning', 'context', 'live'] }),
    )
  })

/** A gateway answers after a second and asks its channels for three: each round waits for the same answers to come. */
const LIVE_ROUNDS = 4

/** Asks until it is known of every channel whether it lists its models. */
async function listLive(caller: Pick<SteadyClient, 'call'>): Promise<ToolOutput<'models.list'>> {
  let result = await caller.call('models.list', { live: true })
  for (let round = 1; round < LIVE_ROUNDS && result.channels.some(isOpen); round += 1)
    result = await caller.call('models.list', { live: true })
  return result
}

const isOpen = ({ checked_at }: ChannelCheck): boolean => checked_at === null

/** The code in front is for programs, which have it with --json. */
function faultText(check: ChannelCheck): string {
  if (isOpen(check)) return `${check.channel} has not answered yet`
  return `${check.channel} does not list its models: ${inCommands((check.error ?? 'no answer').replace(/^[a-z_]+: /, ''))}`
}

function modelRow(model: Model): string[] {
  const { upstream_channel, live, context_tokens, script, display_name } = model
  return [
    model.model,
    upstream_channel,
    ...priceCells(model),
    context_tokens === null ? '-' : String(context_tokens),
    live === null ? '-' : live ? 'yes' : 'no',
    [script ? 'a script, no model' : '', display_name === model.model ? '' : display_name]
      .filter((part) => part !== '')
      .join(': '),
  ]
}

/** Unpriced is not free. */
function priceCells(prices: ModelPrices): string[] {
  const cell = (price: number | null): string => (price === null ? '-' : dollars(price))
  return [
    cell(prices.input_microusd_per_1m_tokens),
    cell(prices.cached_input_microusd_per_1m_tokens),
    cell(prices.output_microusd_per_1m_tokens),
    cell(prices.reasoning_microusd_per_1m_tokens),
  ]
}

export const channelList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('channel.list', {})
    if (result.items.length === 0 && !invocation.values.has('json')) invocation.io.err('there is no channel\n')
    return show(
      invocation,
      result,
      columns([CHANNEL_HEADER, ...result.items.map(channelRow)], invocation.io.screen(), { mayGo: ['set by', 'kind'] }),
    )
  })

const channelRow = ({ name, kind, base_url, script, wire, key, enabled, source }: Channel): string[] => [
  name,
  kind,
  base_url ?? (script === null ? '' : `script ${script}`),
  wire,
  key ?? '-',
  enabled ? 'enabled' : 'disabled',
  source,
]

/** Adds a channel or changes one; what is not said stays as it is. */
export const channelSet = (invocation: Invocation): Promise<number> => {
  const input = channelInput(invocation)
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('channel.set', input)
    return show(
      invocation,
      result,
      columns([CHANNEL_HEADER, channelRow(result)], invocation.io.screen(), { mayGo: ['set by', 'kind'] }),
    )
  })
}

function channelInput(invocation: Invocation): ToolInput<'channel.set'> {
  const { values, io } = invocation
  if (values.has('enable') && values.has('disable')) throw usageError('--enable and --disable exclude each other')
  if (values.has('no-key') && values.has('key-file')) throw usageError('--no-key and --key-file exclude each other')
  const keyFile = values.text('key-file')
  const kind = ChannelKind.safeParse(values.text('kind')).data
  const wire = ModelWire.safeParse(values.text('wire')).data
  const text = (flag: string, key: string): Record<string, string> => {
    const value = values.text(flag)
    return value === undefined ? {} : { [key]: value }
  }
  return {
    name: channelOf(invocation),
    ...text('display-name', 'display_name'),
    ...(kind === undefined ? {} : { kind }),
    ...text('base-url', 'base_url'),
    ...(values.has('no-key')
      ? { api_key: '' }
      : keyFile === undefined
        ? {}
        : { api_key: readSecretLine({ what: '--key-file', file: keyFile, cwd: io.cwd }, io, 'key') }),
    ...(wire === undefined ? {} : { wire }),
    ...text('models-path', 'models_path'),
    ...text('script', 'script'),
    ...(values.has('enable') ? { enabled: true } : values.has('disable') ? { enabled: false } : {}),
  }
}

export const channelDelete = (invocation: Invocation): Promise<number> => {
  const name = channelOf(invocation)
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.once('channel.delete', { name })
    const models = result.detached_models.length === 0 ? '' : `, with ${result.detached_models.join(', ')}`
    return show(invocation, result, columns([[`${result.name} is deleted${models}.`]]))
  })
}

function channelOf({ positionals: [given] }: Invocation): string {
  const name = ChannelName.safeParse(given)
  if (!name.success) throw usageError(`CHANNEL ${name.error.issues[0]?.message}`, 'parley channel list shows them')
  return name.data
}

const PRICE_HEADER = ['model', 'channel', 'input', 'cached', 'output', 'reasoning', 'context', 'state']

/** Prices are dollars per million tokens. */
export const pricingList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('pricing.list', {})
    const rows = result.items.map((item) => [
      item.model,
      item.upstream_channel,
      ...priceCells(item),
      item.context_tokens === null ? '-' : String(item.context_tokens),
      item.active ? 'active' : 'not on offer',
    ])
    if (rows.length === 0 && !invocation.values.has('json')) invocation.io.err('no model has a price\n')
    return show(invocation, result, columns([PRICE_HEADER, ...rows], invocation.io.screen()))
  })

export const pricingSet = (invocation: Invocation): Promise<number> => {
  const { values } = invocation
  const input = {
    ...modelAndChannel(invocation),
    ...price(values, 'input', 'input_microusd_per_1m_tokens'),
    ...price(values, 'cached', 'cached_input_microusd_per_1m_tokens'),
    ...price(values, 'output', 'output_microusd_per_1m_tokens'),
    ...price(values, 'cached-output', 'cached_output_microusd_per_1m_tokens'),
    ...price(values, 'reasoning', 'reasoning_microusd_per_1m_tokens'),
    ...contextOf(values),
    ...(values.has('on') ? { active: true } : values.has('off') ? { active: false } : {}),
  }
  if (values.has('on') && values.has('off')) throw usageError('--on and --off exclude each other')
  return withCaller(invocation, 'admin', async (caller) => {
    const item = await caller.call('pricing.set', input)
    const row = [item.model, item.upstream_channel, ...priceCells(item), String(item.context_tokens ?? '-')]
    return show(
      invocation,
      item,
      columns([PRICE_HEADER, [...row, item.active ? 'active' : 'not on offer']], invocation.io.screen()),
    )
  })
}

export const pricingDelete = (invocation: Invocation): Promise<number> => {
  const input = modelAndChannel(invocation)
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.once('pricing.delete', input)
    return show(invocation, result, columns([[`${result.model} of ${result.upstream_channel} is deleted.`]]))
  })
}

function modelAndChannel(invocation: Invocation): { model: string; upstream_channel: string } {
  const { positionals, values } = invocation
  const channel = values.text('channel')
  if (channel === undefined) throw usageError('--channel is needed: the same model may cost more elsewhere')
  return { model: positionals[0] ?? '', upstream_channel: channel }
}

function contextOf(values: Invocation['values']): { context_tokens?: number } {
  const tokens = wholeNumber(values, 'context', CONTEXT)
  return tokens === undefined ? {} : { context_tokens: tokens }
}

function price(values: Invocation['values'], flag: string, key: keyof ModelPrices): Partial<ModelPrices> {
  const text = values.text(flag)
  if (text === undefined) return {}
  if (text === 'none') return { [key]: null }
  const usd = /^\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  if (!(usd <= PRICE_USD_MAX))
    throw usageError(`--${flag} must be dollars per million tokens, such as 1.25, or none, not ${JSON.stringify(text)}`)
  return { [key]: Math.round(usd * MICROUSD) }
}
