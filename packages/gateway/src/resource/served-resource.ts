import { RESOURCES, type ResourceSpec } from '@parley/protocol'
import type { GatewayCaller } from '../caller.ts'
import { accountOf } from '../tool/account.ts'
import type { World } from '../tool/served-tool.ts'
import { tokenPage } from '../tool/token.ts'
import { userPage } from '../tool/user.ts'

/** A resource that works: its declaration, what reading it gives, and which topics say that it changed. */
export interface ServedResource {
  readonly spec: ResourceSpec
  read(caller: GatewayCaller, world: World): object | Promise<object>
  topics(caller: GatewayCaller): readonly string[]
}

/** Entries in a list that is read as a resource; the rest is behind `next_cursor`, by the tool of the same name. */
const LISTED_MAX = 500

const account: ServedResource = {
  spec: RESOURCES['resource://account'],
  read: accountOf,
  topics: ({ userId, tokenId }) => [
    ...(userId === null ? [] : [`user/${userId}`]),
    ...(tokenId === null ? [] : [`token/${tokenId}`]),
  ],
}

const users: ServedResource = {
  spec: RESOURCES['resource://users/list'],
  read: (_caller, world) => userPage(world, { limit: LISTED_MAX }),
  topics: () => ['users'],
}

const tokens: ServedResource = {
  spec: RESOURCES['resource://tokens/list'],
  read: (_caller, world) => tokenPage(world, { limit: LISTED_MAX }),
  topics: () => ['tokens'],
}

export const SERVED_RESOURCES: readonly ServedResource[] = [account, users, tokens]
