import type { ExternalIdentity, UserRecord, Store, TokenRecord } from '@parley/store'
import type { UserId } from '@parley/protocol'
import type { GatewayCaller } from '../caller.ts'
import { refused } from './bearer.ts'
import type { ExternalTokens } from './external-token.ts'
import type { SignInTokens } from './sign-in-token.ts'
import { hashText, isOpaqueToken, sameHash } from './token-text.ts'

/** Everything the token says about its bearer; what belongs to the connection is added by the door. */
export type Identity = Omit<GatewayCaller, 'meter' | 'remote' | 'host' | 'person' | 'hasKeptRoom'>

/** Asks the store who a token belongs to, and whether it still counts. */
export interface Identify {
  /** Throws `Denied` with the reason. */
  byToken(token: string): Promise<Identity>
  /** Whether somebody who was let in earlier would be let in now. Throws `Denied` when not. */
  again(identity: Identity): Promise<void>
}

export function openIdentify(options: {
  readonly store: Pick<Store, 'tokens' | 'users' | 'signIns'>
  readonly signInTokens: SignInTokens
  readonly externalTokens: ExternalTokens | undefined
  readonly judgeToken: string | undefined
  readonly now: () => number
}): Identify {
  const { store, signInTokens, externalTokens, now } = options
  const judgeHash = options.judgeToken === undefined ? undefined : hashText(options.judgeToken)

  const byOpaque = async (hash: string): Promise<Identity> => {
    const record = await store.tokens.byHash(hash)
    if (record === undefined) throw refused('unknown_token')
    checkToken(record, now())
    // A user's token without a user would be a user that nobody can disable.
    if (record.role === 'user' && record.userId === null) throw refused('unknown_token')
    const user = record.userId === null ? undefined : await activeUser(store, record.userId)
    return {
      ...NOBODY,
      key: record.id,
      role: record.role,
      admin: user?.admin ?? false,
      name: user?.username ?? record.name,
      userId: record.userId,
      username: user?.username ?? null,
      agentId: record.agentId,
      tokenId: record.id,
      expiresAt: record.expiresAt,
    }
  }

  return {
    async byToken(token) {
      const hash = hashText(token)
      if (judgeHash !== undefined && sameHash(hash, judgeHash))
        return { ...NOBODY, key: 'judge-token', role: 'judge', name: 'judge' }
      if (isOpaqueToken(token)) return byOpaque(hash)
      if (externalTokens?.claims(token) === true) {
        const { user, identity, expiresAt } = await externalTokens.verify(token)
        if (user.disabled) throw refused('revoked_token')
        return { ...ofUser(user), key: `${EXTERNAL}${hash}`, identity, expiresAt }
      }
      const signIn = await signInTokens.verify(token)
      const user = await activeUser(store, signIn.userId)
      return { ...ofUser(user), key: `jti:${signIn.jti}`, signInId: signIn.jti, expiresAt: signIn.expiresAt }
    },
    async again(identity) {
      if (identity.expiresAt !== null && identity.expiresAt <= now()) throw refused('expired_token')
      if (identity.tokenId !== null) {
        const record = await store.tokens.byId(identity.tokenId)
        if (record === undefined) throw refused('unknown_token')
        checkToken(record, now())
      }
      if (identity.signInId !== null) {
        const signIn = await store.signIns.get(identity.signInId)
        if (signIn === undefined) throw refused('unknown_token')
        if (signIn.revokedAt !== null) throw refused('revoked_token')
      }
      if (identity.userId !== null) {
        const user = await activeUser(store, identity.userId)
        // Somebody who is no admin any more must come back as what they are now.
        if (user.admin !== identity.admin) throw refused('revoked_token')
        if (isExternal(identity) && !isSame(user.identity, identity.identity)) throw refused('revoked_token')
      }
    },
  }
}

const NOBODY = {
  admin: false,
  userId: null,
  username: null,
  agentId: null,
  tokenId: null,
  signInId: null,
  identity: null,
  expiresAt: null,
} as const

/** Whom limits count this identity with: a person for every token of theirs, else the token itself. */
export const personKey = ({ userId, key }: Pick<Identity, 'userId' | 'key'>): string => (userId === null ? key : `user ${userId}`)

/** Room is kept for who repairs things and for who does the work. */
export const hasKeptRoom = ({ role, admin }: Pick<Identity, 'role' | 'admin'>): boolean => admin || role === 'judge'

const EXTERNAL = 'ext:'
const isExternal = ({ key }: Pick<Identity, 'key'>): boolean => key.startsWith(EXTERNAL)

/** Whoever came by a name came while the account had no identity. */
const isSame = (one: ExternalIdentity | null, other: ExternalIdentity | null): boolean =>
  one?.issuer === other?.issuer && one?.subject === other?.subject

function ofUser(user: UserRecord) {
  return { ...NOBODY, role: 'user', admin: user.admin, name: user.username, userId: user.id, username: user.username } as const
}

function checkToken(record: TokenRecord, now: number): void {
  if (record.revokedAt !== null) throw refused('revoked_token')
  if (record.expiresAt !== null && record.expiresAt <= now) throw refused('expired_token')
}

async function activeUser(store: Pick<Store, 'users'>, id: UserId): Promise<UserRecord> {
  const user = await store.users.byId(id)
  if (user === undefined) throw refused('unknown_token')
  if (user.disabled) throw refused('revoked_token')
  return user
}
