import { type GatewayCaller, isLocal } from '@parley/access'
import { TOOLS, ToolError, type ToolOutput, isoOrNull } from '@parley/protocol'
import { Conflict } from '@parley/store'
import { serveTool } from './account-world.ts'

/** Who somebody is, as `account.get` and `resource://account` say it. */
export function accountOf(caller: GatewayCaller): ToolOutput<'account.get'> {
  return {
    role: caller.role,
    admin: caller.admin,
    user_id: caller.userId,
    username: caller.username,
    name: caller.name,
    token_id: caller.tokenId,
    scopes: caller.scopes === null ? null : [...caller.scopes],
    expires_at: isoOrNull(caller.expiresAt),
  }
}

export const accountGet = serveTool(TOOLS['account.get'], (_args, { caller }) => accountOf(caller))

export const accountPasswd = serveTool(TOOLS['account.passwd'], async (args, { caller, world }) => {
  const user = caller.userId === null || isLocal(caller) ? undefined : await world.store.users.byId(caller.userId)
  if (user === undefined)
    throw new ToolError('forbidden', 'this token belongs to no account', { hint: 'use user.passwd as an admin' })
  // Who was let in by a one-time link has no password to show yet; a token alone must not be enough to set the first one.
  const isFirst = user.passwordHash === null && caller.signInId !== null && args.current_password === ''
  if (!isFirst) {
    const pass = world.signInLimit.enter(caller.remote, { name: user.username, isKnown: true })
    if (pass.kind === 'wait')
      throw new ToolError('rate_limited', 'too many wrong passwords', { hint: `try again in ${pass.retryAfterSeconds} s` })
    if (!(await world.passwords.matches(args.current_password, user.passwordHash)))
      throw new ToolError('invalid_argument', 'current_password is wrong', { field: 'current_password' })
    pass.succeeded()
  }
  const passwordHash = await world.passwords.hash(args.new_password)
  // Whoever set another one while this was worked out, an admin most likely, is not overruled by somebody with the old one.
  await world.store.users
    .setPassword(user.id, passwordHash, { from: user.passwordHash, keepTokens: args.keep_tokens })
    .catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error
      throw new ToolError('conflict', 'another password was set meanwhile', { hint: 'sign in with that one', cause: error })
    })
  return { user_id: user.id }
})
