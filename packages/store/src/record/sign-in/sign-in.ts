import type { UserId } from '@parley/protocol'

/** A JWT's `jti`, so that signing out, disabling and a new password end it before its time. */
export interface SignInRecord {
  readonly jti: string
  readonly userId: UserId
  readonly expiresAt: number
  readonly revokedAt: number | null
}
/** A one-time link, as it is now. */
export interface LinkRecord {
  readonly userId: UserId
  readonly expiresAt: number
  readonly state: 'good' | 'used' | 'expired'
}
/** What somebody showed to sign in: the password whose stored hash they matched, or a link by its hash. */
export type SignInProof = { readonly passwordHash: string | null } | { readonly link: string }

export interface SignIns {
  /**
   * Written only while the proof still holds, whatever happened since it was looked at: the password is the same, the link was
   * not ended by a new password or by disabling. Else, or when the account is disabled or deleted, it throws `Conflict`. A person
   * has so many at once; one more ends the oldest.
   */
  add(signIn: {
    readonly jti: string
    readonly userId: UserId
    readonly expiresAt: number
    readonly proof: SignInProof
  }): Promise<void>
  get(jti: string): Promise<SignInRecord | undefined>
  /** Publishes `sign-in/JTI`. */
  revoke(jti: string): Promise<void>
  /** Publishes `sign-in/JTI` for each. */
  revokeAllOf(userId: UserId): Promise<void>
  addLink(link: { readonly hash: string; readonly userId: UserId; readonly expiresAt: number }): Promise<void>
  /** One guarded statement: a link works once. */
  takeLink(hash: string): Promise<UserId | undefined>
  /** Looks without using it up. Known until a day after its end, unless its account was disabled or got a new password. */
  findLink(hash: string): Promise<LinkRecord | undefined>
  sweep(): Promise<void>
}
