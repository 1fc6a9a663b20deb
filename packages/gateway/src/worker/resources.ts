import { type ServedResource, watchTopics } from '@parley/access'
import { RESOURCES } from '@parley/protocol'
import { workersTopic } from '@parley/store'
import { workerViews } from './worker-view.ts'
import type { WorkerWorld } from './worker-world.ts'

/** The executors that are here. */
export const executors: ServedResource<WorkerWorld> = {
  spec: RESOURCES['resource://executors/list'],
  read: ({ world }) => workerViews(world, 'executor', { gone: false }),
  watch: (request, changed) => watchTopics(request, [workersTopic('executor')], changed),
}
