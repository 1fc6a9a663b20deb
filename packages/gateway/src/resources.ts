import { type ServedResource } from '@parley/access'
import { ACCOUNT_RESOURCES } from './account/resources.ts'
import { AGENT_RESOURCES } from './agent/resources.ts'
import { APPROVAL_RESOURCES } from './approval/resources.ts'
import { models } from './channel/resources.ts'
import { JOB_RESOURCES } from './job/resources.ts'
import { executors } from './worker/resources.ts'
import { judges } from './judge/resources.ts'
import type { World } from './world.ts'

/** Every resource of the protocol that works here. */
export const SERVED_RESOURCES: readonly ServedResource<World>[] = [
  ...ACCOUNT_RESOURCES,
  ...AGENT_RESOURCES,
  ...APPROVAL_RESOURCES,
  ...JOB_RESOURCES,
  judges,
  models,
  executors,
]
