import { TOOLS, ToolError } from '@parley/protocol'
import type { UserRecord } from '@parley/store'
import { type AccountContext, serveTool } from './account-world.ts'
import { keepingAnAdmin, named, userView } from './user-tools.ts'

export const userPromote = serveTool(TOOLS['user.promote'], async ({ username }, context) => {
  const user = await named(username, context)
  await context.world.store.users.setAdmin(user.id, true)
  return { user: userView({ ...user, admin: true }) }
})

export const userDemote = serveTool(TOOLS['user.demote'], async ({ username }, context) => {
  const user = await somebodyElse(username, context)
  await keepingAnAdmin(() => context.world.store.users.setAdmin(user.id, false))
  return { user: userView({ ...user, admin: false }) }
})

export const userDelete = serveTool(TOOLS['user.delete'], async ({ username }, context) => {
  const user = await somebodyElse(username, context)
  const cancelled = await keepingAnAdmin(() => context.world.store.users.delete(user.id))
  return { user_id: user.id, username, cancelled_jobs: cancelled }
})

/** Whoever ends their own rights has nobody to ask when it was a mistake. The local shell has no account to lose. */
async function somebodyElse(username: string, context: AccountContext): Promise<UserRecord> {
  const user = await named(username, context)
  const { caller } = context
  const isOneself = caller.userId === user.id && (caller.tokenId !== null || caller.signInId !== null)
  if (isOneself)
    throw new ToolError('conflict', `${username} is your own account`, {
      field: 'username',
      hint: 'another admin can do it, or parley user on the machine of the gateway',
    })
  return user
}
