import { type Channel, TOOLS, ToolError, iso } from '@parley/protocol'
import { type ChannelRecord, Conflict } from '@parley/store'
import { changedChannel, channelTarget } from '@parley/models'
import { type ChannelContext, type ChannelWorld, serveTool } from './channel-world.ts'

/** Channels of one installation; every live list asks all of them. */
const CHANNELS_MAX = 64

export const channelList = serveTool(TOOLS['channel.list'], async (_args, { world }) => ({
  items: (await world.store.channels.list()).map((channel) => channelView(world, channel)),
}))

export const channelSet = serveTool(TOOLS['channel.set'], async (args, context) => {
  const { world } = context
  const { channels } = world.store
  context.target = args.name
  const there = await channels.byName(args.name)
  const changed = await changedChannel(world, args, there)
  context.target = channelTarget(there, changed)
  return channelView(world, await channels.put(changed, { most: CHANNELS_MAX }).catch(tooMany))
})

export const channelDelete = serveTool(TOOLS['channel.delete'], async ({ name }, context) => {
  context.target = name
  const models = await context.world.store.channels.delete(name)
  if (models === undefined) throw noSuch(name)
  return { name, deleted: true as const, detached_models: [...models] }
})

export const channelModels = serveTool(TOOLS['channel.models'], async ({ name }, context) => {
  context.target = name
  const { check, models } = await context.world.directory.ask(await named(name, context))
  return { check, items: models.toSorted() }
})

function channelView({ sealer }: Pick<ChannelWorld, 'sealer'>, channel: ChannelRecord): Channel {
  const { sealedKey, keyHint } = channel
  const isReadable = sealedKey === null || sealer.open(channel.name, sealedKey) !== undefined
  return {
    name: channel.name,
    display_name: channel.displayName,
    kind: channel.kind,
    base_url: channel.baseUrl,
    wire: channel.wire,
    models_path: channel.modelsPath,
    script: channel.script,
    key: isReadable ? keyHint : 'unreadable',
    enabled: channel.enabled,
    source: channel.source,
    created_at: iso(channel.createdAt),
    updated_at: iso(channel.updatedAt),
  }
}

async function named(name: string, { world }: ChannelContext): Promise<ChannelRecord> {
  const channel = await world.store.channels.byName(name)
  if (channel === undefined) throw noSuch(name)
  return channel
}

function tooMany(error: unknown): never {
  if (!(error instanceof Conflict)) throw error
  const hint = 'channel.delete one first'
  throw new ToolError('conflict', `there are ${CHANNELS_MAX} channels, which is the most`, { hint, cause: error })
}

const noSuch = (name: string): ToolError =>
  new ToolError('not_found', `there is no channel ${name}`, { field: 'name', hint: 'channel.list names those there are' })
