import type { ExternalIdentity, UserRecord, Store, TokenRecord } from '@parley/store'
import type { Role, UserId } from '@parley/protocol'
import type { GatewayCaller } from '../caller.ts'
import { refused } from './bearer.ts'
import type { ExternalTokens } from './external-token.ts'
import type { SignInTokens } from './sign-in-token.ts'
import { hashText, isOpaqueToken, sameHash } from './token-text.ts'

/** Everything the token says about its bearer; what belongs to the connection is added by the door. */
export type Identity = Omit<GatewayCaller, 'meter' | 'remote' | 'host' | 'person' | 'hasKeptRoom'>

export type WorkerRole = Exclude<Role, 'user' | 'agent'>
/** The fixed token of each kind of worker, where there is one. */
export type WorkerTokens = Partial<Readonly<Record<WorkerRole, string>>>

const WORKER_ROLES: readonly WorkerRole[] = ['judge', 'host', 'executor']
const isWorker = (role: Role): boolean => WORKER_ROLES.some((worker) => worker === role)

export function fixedTokens(tokens: WorkerTokens): readonly { readonly role: WorkerRole; readonly token: string }[] {
  return WORKER_ROLES.flatMap((role) => {
    const token = tokens[role]
    return token === undefined ? [] : [{ role, token }]
  })
}

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
  /** One fixed token for all workers of a kind. */
  readonly workerTokens: WorkerTokens
  readonly now: () => number
}): Identify {
  const { store, signInTokens, externalTokens, now } = options
  const fixed = fixedTokens(options.workerTokens).map(({ role, token }) => ({ role, hash: hashText(token) }))

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
      scopes: record.scopes,
      expiresAt: record.expiresAt,
    }
  }

  return {
    async byToken(token) {
      const hash = hashText(token)
      const worker = fixed.find((each) => sameHash(hash, each.hash))?.role
      if (worker !== undefined) return { ...NOBODY, key: `${worker}-token`, role: worker, name: worker }
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
  scopes: null,
  signInId: null,
  identity: null,
  expiresAt: null,
} as const

/** Whom limits count this identity with: a person for every token of theirs, else the token itself. */
export const personKey = ({ userId, key }: Pick<Identity, 'userId' | 'key'>): string => (userId === null ? key : `user ${userId}`)

/** Room is kept for who repairs things and for who does the work. */
export const hasKeptRoom = ({ role, admin }: Pick<Identity, 'role' | 'admin'>): boolean => admin || isWorker(role)

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
