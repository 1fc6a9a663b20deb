import { pageOf } from '@parley/access'
import { TOOLS, ToolError, type User, Username, iso, isoOrNull } from '@parley/protocol'
import { AlreadyExists, Conflict, type UserRecord } from '@parley/store'
import { type AccountContext, type AccountWorld, serveTool } from './account-world.ts'
import { checkAccountMaker } from './made-by-token.ts'

export function userView(user: UserRecord): User {
  return {
    id: user.id,
    username: user.username,
    admin: user.admin,
    disabled: user.disabled,
    created_at: iso(user.createdAt),
    last_sign_in_at: isoOrNull(user.lastSignInAt),
    identity: user.identity,
  }
}

/** A page of the accounts, by name; the cursor is the last name of the page before. */
export async function userPage(
  world: Pick<AccountWorld, 'store'>,
  page: { readonly afterName?: string; readonly limit: number },
) {
  const found = await world.store.users.list({ ...page, limit: page.limit + 1 })
  const { items, next } = pageOf(found, page.limit, ({ username }) => username)
  return { items: items.map(userView), next_cursor: next }
}

export const userAdd = serveTool(TOOLS['user.add'], async (args, context) => {
  context.target = args.username
  checkAccountMaker(args, context.caller)
  const { store, passwords } = context.world
  const passwordHash = args.password === undefined ? null : await passwords.hash(args.password)
  return { user: userView(await store.users.add({ username: args.username, passwordHash, admin: args.admin })) }
})

export const userList = serveTool(TOOLS['user.list'], async ({ cursor, limit }, { world }) => {
  if (cursor !== undefined && !Username.safeParse(cursor).success)
    throw new ToolError('invalid_argument', 'cursor is not one that user.list gave', { field: 'cursor' })
  return userPage(world, cursor === undefined ? { limit } : { afterName: cursor, limit })
})

export const userDisable = serveTool(TOOLS['user.disable'], async ({ username }, context) => {
  const user = await named(username, context)
  const cancelled = await keepingAnAdmin(() => context.world.store.users.setDisabled(user.id, true))
  return { user: userView({ ...user, disabled: true }), cancelled_jobs: cancelled }
})

export const userEnable = serveTool(TOOLS['user.enable'], async ({ username }, context) => {
  const user = await named(username, context)
  await context.world.store.users.setDisabled(user.id, false)
  return { user: userView({ ...user, disabled: false }) }
})

export const userPasswd = serveTool(TOOLS['user.passwd'], async ({ username, password, keep_tokens }, context) => {
  const user = await named(username, context)
  const { store, passwords } = context.world
  await store.users.setPassword(user.id, await passwords.hash(password), { keepTokens: keep_tokens })
  return { user: userView(user) }
})

export const userSetIdentity = serveTool(TOOLS['user.set_identity'], async ({ username, identity }, context) => {
  const user = await named(username, context)
  await context.world.store.users.setIdentity(user.id, identity).catch((error: unknown) => {
    if (!(error instanceof AlreadyExists)) throw error
    throw new ToolError('already_exists', error.message, {
      field: 'identity',
      hint: 'take it from that user first',
      cause: error,
    })
  })
  return { user: userView({ ...user, identity }) }
})

export const userLink = serveTool(TOOLS['user.link'], async ({ username }, context) => {
  const user = await named(username, context)
  if (user.disabled) throw new ToolError('conflict', `${username} is disabled`, { hint: 'user.enable first' })
  const { url, expiresAt } = await context.world.links.make(user.id)
  return { url, expires_at: iso(expiresAt) }
})

export const userSetQuota = serveTool(TOOLS['user.set_quota'], async (args, context) => {
  const user = await named(args.username, context)
  const { store, quotas } = context.world
  const there = await store.quotas.of(user.id)
  await store.quotas.set({
    userId: user.id,
    jobsAtOnce: args.jobs_at_once === undefined ? there.jobsAtOnce : args.jobs_at_once,
    tokensPerDay: args.tokens_per_day === undefined ? there.tokensPerDay : args.tokens_per_day,
    microusdPerDay: args.microusd_per_day === undefined ? there.microusdPerDay : args.microusd_per_day,
    keptBytes: args.kept_bytes === undefined ? there.keptBytes : args.kept_bytes,
    keptJobs: args.kept_jobs === undefined ? there.keptJobs : args.kept_jobs,
  })
  return { username: user.username, quota: await quotas.of(user.id) }
})

/** The store refuses to take the last admin away; here is said what to do about it. */
export async function keepingAnAdmin<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    throw new ToolError('conflict', error.message, { hint: 'make somebody else an admin first: user.promote', cause: error })
  }
}

/** The account of that name, which the call is about, or `not_found`. */
export async function named(username: string, context: AccountContext): Promise<UserRecord> {
  context.target = username
  const user = await context.world.store.users.byName(username)
  if (user === undefined) throw new ToolError('not_found', `there is no user ${username}`, { field: 'username' })
  return user
}
