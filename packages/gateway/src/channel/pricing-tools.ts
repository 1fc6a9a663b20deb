import { ModelPrices, NO_PRICES, type PricedModel, TOOLS, ToolError, iso, wrongArgument } from '@parley/protocol'
import { type ChannelRecord, Conflict, type ModelRecord, NotFound } from '@parley/store'
import { changedPrices, modelName, modelTarget } from '@parley/models'
import { type ChannelWorld, serveTool } from './channel-world.ts'

/** Models that are set up, over all channels. */
const MODELS_MAX = 5_000

export const pricingList = serveTool(TOOLS['pricing.list'], async (_args, { world }) => ({
  items: (await world.store.channels.models()).map(modelView),
}))

export const pricingSet = serveTool(TOOLS['pricing.set'], async (args, context) => {
  const { model, upstream_channel: name } = args
  const { channels } = context.world.store
  context.target = modelName(name, model)
  const channel = await channels.byName(name)
  if (channel === undefined) throw noSuchChannel(name)
  const there = await channels.model(name, model)
  if (there === undefined) await checkNew(context.world, channel, model)
  if (channel.kind === 'script') checkFree(args, channel.name)
  const changed = {
    channel: name,
    model,
    displayName: args.display_name ?? there?.displayName ?? model,
    contextTokens: args.context_tokens === undefined ? (there?.contextTokens ?? null) : args.context_tokens,
    prices: changedPrices(there?.prices ?? NO_PRICES, args),
    active: args.active ?? there?.active ?? true,
    source: 'admin',
  } as const
  context.target = modelTarget(there, changed)
  return modelView(await channels.putModel(changed, { most: MODELS_MAX }).catch((error: unknown) => refused(error, name)))
})

export const pricingDelete = serveTool(TOOLS['pricing.delete'], async ({ model, upstream_channel }, context) => {
  context.target = modelName(upstream_channel, model)
  if (!(await context.world.store.channels.deleteModel(upstream_channel, model)))
    throw new ToolError('not_found', `channel ${upstream_channel} has no model ${model} set up`, {
      field: 'model',
      hint: 'pricing.list names those there are',
    })
  return { model, upstream_channel, deleted: true as const }
})

async function checkNew({ scripts }: ChannelWorld, channel: ChannelRecord, model: string): Promise<void> {
  if (channel.kind === 'script') {
    const read = await scripts.read(channel.script ?? '')
    if (read.kind === 'read' && read.script.model !== model)
      throw wrongArgument('model', `channel ${channel.name} plays a script`, `its one model is ${read.script.model}`)
  }
}

/** What only the store can tell, since others change channels and models meanwhile. */
function refused(error: unknown, channel: string): never {
  if (error instanceof NotFound) throw noSuchChannel(channel)
  if (!(error instanceof Conflict)) throw error
  const hint = 'pricing.delete some first'
  throw new ToolError('conflict', `${MODELS_MAX} models are set up, which is the most`, { hint, cause: error })
}

/** A price that nobody pays would only mislead. */
function checkFree(prices: Parameters<typeof changedPrices>[1], channel: string): void {
  const priced = PRICE_NAMES.find((name) => (prices[name] ?? 0) !== 0)
  if (priced !== undefined)
    throw wrongArgument(priced, `channel ${channel} plays a script, which costs nothing`, 'leave the prices out')
}
const PRICE_NAMES = ModelPrices.keyof().options

function modelView(record: ModelRecord): PricedModel {
  return {
    model: record.model,
    upstream_channel: record.channel,
    display_name: record.displayName,
    context_tokens: record.contextTokens,
    ...record.prices,
    active: record.active,
    created_at: iso(record.createdAt),
    updated_at: iso(record.updatedAt),
  }
}

const noSuchChannel = (name: string): ToolError =>
  new ToolError('not_found', `there is no channel ${name}`, {
    field: 'upstream_channel',
    hint: 'channel.list names those there are; channel.set adds one',
  })
