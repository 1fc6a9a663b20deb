import type { AgentId, HeldScopes, Role, Scope, TokenId, UserId } from '@parley/protocol'

export interface TokenRecord {
  readonly id: TokenId
  readonly role: Role
  readonly name: string
  readonly userId: UserId | null
  readonly agentId: AgentId | null
  /** Kept as it was made: nothing widens or narrows a token. */
  readonly scopes: HeldScopes
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}
export interface Tokens {
  /**
   * `hash` is the SHA-256 of the token's text, hex. The text itself is never here. A token of an agent is for one that is active, and
   * whose owner is not disabled: `NotFound` otherwise. Only a user's has scopes.
   */
  add(token: {
    readonly hash: string
    readonly role: Role
    readonly name: string
    readonly userId?: UserId
    readonly agentId?: AgentId
    /** Left out: not limited. */
    readonly scopes?: readonly Scope[]
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
  /** Publishes `token/ID` and `tokens`; judges and workers that came with it are forgotten. Answers the record, or `undefined` when there is none. Idempotent. */
  revoke(id: TokenId): Promise<TokenRecord | undefined>
  used(ids: readonly TokenId[], at: number): Promise<void>
}
