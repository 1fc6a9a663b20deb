import type { UserId } from '@parley/protocol'

export interface UserRecord {
  readonly id: UserId
  readonly username: string
  readonly passwordHash: string | null
  readonly admin: boolean
  readonly disabled: boolean
  readonly createdAt: number
  readonly lastSignInAt: number | null
  /** Whom an identity provider means by this person; null until an admin says so. */
  readonly identity: ExternalIdentity | null
}

/** A person as an identity provider knows them: its own name, and a subject that it gives to nobody else. */
export interface ExternalIdentity {
  readonly issuer: string
  readonly subject: string
}

/** What jobs of a deleted account show as their owner. No account can be called so. */
export const deletedName = (id: UserId): string => `deleted user ${id.slice('usr_'.length).slice(0, 12)}`

/** Accounts. Every change publishes `users` and `user/ID`. Disabling and a new password end the user's sign-ins, links and tokens, those of their agents among them. */
export interface Users {
  /** Throws `AlreadyExists` when the name is taken. */
  add(user: { readonly username: string; readonly passwordHash: string | null; readonly admin: boolean }): Promise<UserRecord>
  /** Adds the first admin unless any user exists; `undefined` when there is one. Safe with several gateways starting at once. */
  addFirstAdmin(user: { readonly username: string; readonly passwordHash: string | null }): Promise<UserRecord | undefined>
  byId(id: UserId): Promise<UserRecord | undefined>
  byName(username: string): Promise<UserRecord | undefined>
  byIdentity(identity: ExternalIdentity): Promise<UserRecord | undefined>
  /** Of the admins who can sign in, the one whose account is the oldest: the first admin, unless that one was disabled. */
  oldestAdmin(): Promise<UserRecord | undefined>
  list(page: { readonly afterName?: string; readonly limit: number }): Promise<readonly UserRecord[]>
  /**
   * Disabling cancels, in the same commit, whatever of theirs has not ended (`owner_disabled`), and answers how many jobs; it puts their
   * agents to sleep, and none wakes until they are enabled. Throws `Conflict` rather than disable the last admin, whoever else is doing the same at this moment.
   */
  setDisabled(id: UserId, disabled: boolean): Promise<number>
  /** The same for taking an admin's rights. What it publishes makes whoever is connected come back with the rights that they have now. */
  setAdmin(id: UserId, admin: boolean): Promise<void>
  /**
   * For good: no name, no password, no quota, no grant; tokens, sign-ins and links end, jobs that have not ended are cancelled, and agents
   * are marked as `deleting`, all in one commit. Nothing finds the account any more; its jobs stay, under `deletedName`, and no new one is added. Throws `Conflict` for
   * the last admin as above. Answers how many jobs were cancelled.
   */
  delete(id: UserId): Promise<number>
  /** Throws `AlreadyExists` when that identity is another user's. What it publishes cuts off whoever came by the old one. */
  setIdentity(id: UserId, identity: ExternalIdentity | null): Promise<void>
  /**
   * With `from` only while that is its hash (null: it has none): `Conflict` when another one was set meanwhile. `keepTokens`
   * leaves the tokens as they are.
   */
  setPassword(
    id: UserId,
    passwordHash: string,
    options?: { readonly from?: string | null; readonly keepTokens?: boolean },
  ): Promise<void>
  signedIn(id: UserId): Promise<void>
}
