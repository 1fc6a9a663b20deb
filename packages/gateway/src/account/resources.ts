import { LISTED_MAX, type ServedResource, watchTopics } from '@parley/access'
import { RESOURCES } from '@parley/protocol'
import { tokenPage } from './token-tools.ts'
import { accountOf } from './tools.ts'
import { userPage } from './user-tools.ts'

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

export const ACCOUNT_RESOURCES: readonly ServedResource[] = [account, users, tokens]
