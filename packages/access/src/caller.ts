import type { Caller } from '@parley/rpc'
import type { AgentId, Audience, HeldScopes, Meter, Role, TokenId, UserId } from '@parley/protocol'
import type { ExternalIdentity } from '@parley/store'

/**
 * Who is calling, as their token says. `key` is one per token, so a session opened with one token is unknown to another;
 * `person` is the same for all tokens of an account, and what is bounded is bounded for all of them together.
 */
export interface GatewayCaller extends Caller {
  readonly person: string
  /** Admins and workers: whoever repairs things, and whoever does the work. */
  readonly hasKeptRoom: boolean
  readonly role: Role
  readonly admin: boolean
  /** What the audit log calls them: a user's name, a worker's name, `local` for the admin socket. */
  readonly name: string
  readonly userId: UserId | null
  /** What the account of `userId` is called; behind the admin socket that is not what the audit log says. */
  readonly username: string | null
  readonly agentId: AgentId | null
  readonly tokenId: TokenId | null
  /** What their token is limited to; null for a sign-in, a worker, and a token without scopes. */
  readonly scopes: HeldScopes
  /** The `jti` of a sign-in; null for every other kind of token. */
  readonly signInId: string | null
  /** Whom an identity provider's token named, where that is how the account was found; null for every other kind of token. */
  readonly identity: ExternalIdentity | null
  readonly expiresAt: number | null
  readonly remote: string
  /** The name under which they reached us; `undefined` where they sent none. */
  readonly host?: string | undefined
  /** How much this person may still send now. Shared by all their tokens and connections. */
  readonly meter: Meter
}

export function audienceOf(caller: Pick<GatewayCaller, 'role' | 'admin'>): Audience {
  return caller.role === 'user' && caller.admin ? 'admin' : caller.role
}

/** How people know the caller: by their account where there is one. */
export const nameOf = ({ username, name }: Pick<GatewayCaller, 'username' | 'name'>): string => username ?? name

const LOCAL = 'local'
/** Whether somebody came by the admin socket. They act for an account without having signed in to it. */
export const isLocal = ({ key }: Pick<GatewayCaller, 'key'>): boolean => key === LOCAL

/**
 * The caller behind the admin socket: whoever may open the file owns the installation. What they hand in belongs to the account
 * that is given, the oldest admin's.
 */
export function localCaller(meter: Meter, account?: { readonly id: UserId; readonly username: string }): GatewayCaller {
  return {
    key: LOCAL,
    person: LOCAL,
    hasKeptRoom: true,
    role: 'user',
    admin: true,
    name: LOCAL,
    userId: account?.id ?? null,
    username: account?.username ?? null,
    agentId: null,
    tokenId: null,
    scopes: null,
    signInId: null,
    identity: null,
    expiresAt: null,
    remote: LOCAL,
    meter,
  }
}
