import type { SteadyClient } from '@parley/client'
import type { UserId } from '@parley/protocol'
import { quotaBounds, quotaText } from '@parley/shell'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { itemsOf } from '../../caller/items-of.ts'
import { withCaller } from '../../caller/with-caller.ts'

const USERS_PAGE = 500
/** More accounts than this are not looked through for a name. */
const PAGES_MAX = 1_000

/** One's own quota, or somebody's for an admin. */
export const quotaShow = (invocation: Invocation): Promise<number> => {
  const [name] = invocation.positionals
  return withCaller(invocation, name === undefined ? 'user' : 'admin', async (caller) => {
    const whose = name === undefined ? {} : { owner_user_id: await userIdOf(caller, name) }
    const { quota } = await caller.call('usage.summary', { limit: 1, ...whose })
    const username = name ?? (await caller.call('account.get', {})).username
    return show(invocation, { username, quota }, quotaText(username, quota, invocation))
  })
}

/** Changes what one person may use; what is not said stays. */
export const quotaSet = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const bounds = quotaBounds(values)
  if (Object.keys(bounds).length === 0)
    throw usageError(
      'quota set needs at least one of --jobs, --tokens, --usd, --kept-bytes, --kept-jobs',
      'parley quota set --help',
    )
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('user.set_quota', { username: positionals[0] ?? '', ...bounds })
    return show(invocation, result, quotaText(result.username, result.quota, invocation))
  })
}

async function userIdOf(caller: SteadyClient, name: string): Promise<UserId> {
  const users = itemsOf((from) => caller.call('user.list', { limit: USERS_PAGE, ...from }), PAGES_MAX)
  for await (const { id, username } of users) if (username === name) return id
  throw new CommandError('not_found', `there is no user ${name}`, { hint: 'parley user list shows the names' })
}
