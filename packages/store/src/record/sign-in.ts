import type { UserId } from '@parley/protocol'

/** A JWT's `jti`, so that signing out, disabling and a new password end it before its time. */
export interface SignInRecord {
  readonly jti: string
  readonly userId: UserId
  readonly expiresAt: number
  readonly revokedAt: number | null
}
export interface SignIns {
  add(signIn: { readonly jti: string; readonly userId: UserId; readonly expiresAt: number }): Promise<void>
  get(jti: string): Promise<SignInRecord | undefined>
  /** Publishes `sign-in/JTI`. */
  revoke(jti: string): Promise<void>
  /** Publishes `sign-in/JTI` for each. */
  revokeAllOf(userId: UserId): Promise<void>
  addLink(link: { readonly hash: string; readonly userId: UserId; readonly expiresAt: number }): Promise<void>
  /** One guarded statement: a link works once. */
  takeLink(hash: string): Promise<UserId | undefined>
  sweep(): Promise<void>
}
