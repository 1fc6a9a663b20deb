import { RESOURCES } from '@parley/protocol'
import { modelPage } from './models-tool.ts'
import type { ServedResource } from '../resource/served-resource.ts'
import { watchTopics } from '../resource/watch-topics.ts'

/** What `models.list` says without asking anybody. */
export const models: ServedResource = {
  spec: RESOURCES['resource://models/list'],
  read: ({ world }) => modelPage(world, false),
  watch: (request, changed) => watchTopics(request, ['models'], changed),
}
