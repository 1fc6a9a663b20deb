import { RESOURCES, type ResourceSpec } from '@parley/protocol'
import type { GatewayCaller } from '../caller.ts'
import { accountOf } from '../account/tools.ts'
import type { World } from '../tool/served-tool.ts'
import { tokenPage } from '../account/token-tools.ts'
import { userPage } from '../account/user-tools.ts'
import { JOB_RESOURCES } from '../job/resources.ts'
import { judges } from '../judge/resources.ts'
import { models } from '../channel/resources.ts'
import { watchTopics } from './watch-topics.ts'

/** Who asks, and what stood in the URI where the template has its variable. */
export interface ResourceRequest {
  readonly caller: GatewayCaller
  readonly world: World
  /** Empty for a resource without a variable. */
  readonly id: string
}

/**
 * A resource that works: its declaration, what reading it gives, and what says that it changed. Both throw `ToolError`
 * `not_found` for what is not there, or not this caller's.
 */
export interface ServedResource {
  readonly spec: ResourceSpec
  /** A string is the text itself; anything else is written as JSON. */
  read(request: ResourceRequest): string | object | Promise<string | object>
  watch(request: ResourceRequest, changed: () => void): (() => void) | Promise<() => void>
}

/** Entries in a list that is read as a resource; the rest is behind `next_cursor`, by the tool of the same name. */
const LISTED_MAX = 500

const account: ServedResource = {
  spec: RESOURCES['resource://account'],
  read: ({ caller }) => accountOf(caller),
  watch: (request, changed) => {
    const { userId, tokenId } = request.caller
    const topics = [...(userId === null ? [] : [`user/${userId}`]), ...(tokenId === null ? [] : [`token/${tokenId}`])]
    return watchTopics(request, topics, changed)
  },
}

const users: ServedResource = {
  spec: RESOURCES['resource://users/list'],
  read: ({ world }) => userPage(world, { limit: LISTED_MAX }),
  watch: (request, changed) => watchTopics(request, ['users'], changed),
}

const tokens: ServedResource = {
  spec: RESOURCES['resource://tokens/list'],
  read: ({ world }) => tokenPage(world, { limit: LISTED_MAX }),
  watch: (request, changed) => watchTopics(request, ['tokens'], changed),
}

export const SERVED_RESOURCES: readonly ServedResource[] = [account, ...JOB_RESOURCES, judges, models, users, tokens]
