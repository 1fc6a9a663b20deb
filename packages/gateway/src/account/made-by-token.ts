import type { GatewayCaller } from '@parley/access'
import { type HeldScopes, type TokenId, type ToolArguments, ToolError } from '@parley/protocol'

const UNLIMITED = 'a sign-in or a token without scopes may'

type Maker = Pick<GatewayCaller, 'scopes' | 'username' | 'tokenId' | 'expiresAt'>

/**
 * A token with scopes hands on no more than it has: what it makes is for its own account, within its scopes, without `admin`, and ends when it
 * does, by its time or by being revoked. A worker's or an agent's token would be more, since no scope holds it; and one for somebody else
 * would decide in their name.
 */
export function checkMaker(args: Pick<ToolArguments<'token.create'>, 'role' | 'username' | 'scopes'>, maker: Maker): void {
  const { scopes: held } = maker
  if (held === null) return
  if (args.role !== 'user') throw refused(held, `makes no token for role ${args.role}`, 'role')
  if (args.username !== maker.username) throw refused(held, 'makes tokens for its own account alone', 'username')
  const beyond = args.scopes?.find((scope) => scope === 'admin' || !held.includes(scope))
  if (args.scopes === undefined) throw refused(held, 'makes no token without scopes', 'scopes')
  if (beyond !== undefined) throw refused(held, `makes no token with the scope ${beyond}`, 'scopes')
}

/** When a token ends that asks for this, or for no end. */
export function endOf(asked: number | undefined, { scopes, expiresAt }: Maker): number | undefined {
  if (scopes === null || expiresAt === null) return asked
  return Math.min(asked ?? expiresAt, expiresAt)
}

/** The token with which the one that it makes ends. What a person makes, or a token without scopes, is for itself: workers go on without it. */
export const makerOf = ({ scopes, tokenId }: Maker): TokenId | undefined => (scopes === null ? undefined : (tokenId ?? undefined))

/** Whoever could sign in as somebody, or make an admin, would have all scopes that way. */
export function checkAccountMaker(args: Pick<ToolArguments<'user.add'>, 'admin' | 'password'>, { scopes: held }: Maker): void {
  if (held === null) return
  if (args.password !== undefined) throw refused(held, 'sets no password', 'password')
  if (args.admin) throw refused(held, 'makes no admin', 'admin')
}

const refused = (held: NonNullable<HeldScopes>, what: string, field: string): ToolError =>
  new ToolError('forbidden', `a token with scopes ${what}; this one has ${held.join(', ')}`, { field, hint: UNLIMITED })
