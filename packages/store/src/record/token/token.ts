import type { AgentId, HeldScopes, Role, Scope, TokenId, UserId } from '@parley/protocol'

export interface TokenRecord {
  readonly id: TokenId
  readonly role: Role
  readonly name: string
  readonly userId: UserId | null
  readonly agentId: AgentId | null
  /** Kept as it was made: nothing widens or narrows a token. */
  readonly scopes: HeldScopes
  /** The token with scopes that made this one: it ends with that. Null for every other. */
  readonly madeBy: TokenId | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}
/** A token that has ended, and the others that ended with it now: those that it made, those that they made, and so on. */
export interface RevokedToken extends TokenRecord {
  readonly also: readonly TokenId[]
}
export interface Tokens {
  /**
   * `hash` is the SHA-256 of the token's text, hex. The text itself is never here. A token of an agent is for one that is active, and
   * whose owner is not disabled: `NotFound` otherwise. Only a user's has scopes. What a token with scopes makes is for its own account, with
   * scopes; `Conflict` when that token has ended meanwhile.
   */
  add(token: {
    readonly hash: string
    readonly role: Role
    readonly name: string
    readonly userId?: UserId
    readonly agentId?: AgentId
    /** Left out: not limited. */
    readonly scopes?: readonly Scope[]
    readonly madeBy?: TokenId
    readonly expiresAt?: number
  }): Promise<TokenRecord>
  byHash(hash: string): Promise<TokenRecord | undefined>
  byId(id: TokenId): Promise<TokenRecord | undefined>
  list(page: {
    readonly beforeCreatedAt?: number
    readonly beforeId?: TokenId
    readonly limit: number
  }): Promise<readonly TokenRecord[]>
  /** Those of an agent that still count. */
  ofAgent(agentId: AgentId): Promise<readonly TokenRecord[]>
  /**
   * Ends it and all that were made with it, in one commit. Publishes `token/ID` of each and `tokens`; judges and workers that came with it are
   * forgotten. Answers the record, or `undefined` when there is none. Idempotent.
   */
  revoke(id: TokenId): Promise<RevokedToken | undefined>
  used(ids: readonly TokenId[], at: number): Promise<void>
}
