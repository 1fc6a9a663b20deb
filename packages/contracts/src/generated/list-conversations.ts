// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `listConversations`, as Codex 0.44.0 takes or sends them. */
export interface ListConversationsParams {
  readonly pageSize?: number | null
  readonly cursor?: string | null
}

/** The result of it. */
export interface ListConversationsResult {
  readonly items: readonly ListConversationsResultItemsItem[]
  readonly nextCursor?: string
}

export interface ListConversationsResultItemsItem {
  readonly conversationId: string
  readonly path: string
  readonly preview: string
  readonly timestamp?: string
}

/** The same as the documents declare it. */
export interface DeclaredListConversationsParams {
  readonly status?: 'initializing' | 'active' | 'idle' | 'paused' | 'interrupted' | 'archived' | 'terminated'
  readonly model?: string
}

/** The result of it. */
export interface DeclaredListConversationsResult {
  readonly conversations: readonly DeclaredListConversationsResultConversationsItem[]
}

export interface DeclaredListConversationsResultConversationsItem {
  readonly id: string
  readonly model: string
  readonly createdAt: string
  readonly status: 'initializing' | 'active' | 'idle' | 'paused' | 'interrupted' | 'archived' | 'terminated'
  readonly title?: string
}
