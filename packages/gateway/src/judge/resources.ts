import { type ServedResource, watchTopics } from '@parley/access'
import { RESOURCES } from '@parley/protocol'
import { judgeViews } from './judge-view.ts'
import type { JudgeWorld } from './judge-world.ts'

/** The judges that are here. The desk publishes `judges` too when one takes a job or gives one back. */
export const judges: ServedResource<JudgeWorld> = {
  spec: RESOURCES['resource://judges/list'],
  read: ({ world }) => judgeViews(world, { gone: false }),
  watch: (request, changed) => watchTopics(request, ['judges'], changed),
}
