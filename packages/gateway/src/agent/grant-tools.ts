import { TOOLS, ToolError, iso } from '@parley/protocol'
import type { GrantRecord } from '@parley/store'
import { serveTool } from './agent-world.ts'

export const grantSet = serveTool(TOOLS['grant.set'], async ({ username, ...given }, context) => {
  context.target = username
  const { store } = context.world
  const user = await store.users.byName(username)
  if (user === undefined) throw new ToolError('not_found', `there is no user ${username}`, { field: 'username' })
  const before = await store.grants.of(user.id)
  return grantView(
    await store.grants.set(user.id, {
      unboxed: given.unboxed ?? before.unboxed,
      folders: given.folders ?? before.folders,
      executors: given.executors ?? before.executors,
      private_http: given.private_http ?? before.private_http,
    }),
  )
})

export const grantList = serveTool(TOOLS['grant.list'], async (_args, { world }) => ({
  items: (await world.store.grants.list()).map(grantView),
}))

const grantView = ({ username, grant, setAt }: GrantRecord) => ({ username, ...grant, set_at: iso(setAt) })
