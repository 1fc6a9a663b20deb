import type { Grant, UserId } from '@parley/protocol'

export interface GrantRecord {
  readonly userId: UserId
  readonly username: string
  readonly grant: Grant
  readonly setAt: number
}

/** What admins let people's agents run. Publishes `grants` when one changes. */
export interface Grants {
  /** Replaces it whole. Throws `NotFound` where there is no such account. */
  set(userId: UserId, grant: Grant): Promise<GrantRecord>
  /** `NO_GRANT` for who was granted nothing. */
  of(userId: UserId): Promise<Grant>
  list(): Promise<readonly GrantRecord[]>
}
