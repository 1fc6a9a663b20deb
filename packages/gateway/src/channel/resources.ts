import { type ServedResource, watchTopics } from '@parley/access'
import { RESOURCES } from '@parley/protocol'
import { modelPage } from './models-tool.ts'
import type { ChannelWorld } from './channel-world.ts'

/** What `models.list` says without asking anybody. */
export const models: ServedResource<ChannelWorld> = {
  spec: RESOURCES['resource://models/list'],
  read: ({ world }) => modelPage(world, false),
  watch: (request, changed) => watchTopics(request, ['models'], changed),
}
