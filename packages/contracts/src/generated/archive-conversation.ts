// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `archiveConversation`, as Codex 0.44.0 takes or sends them. */
export interface ArchiveConversationParams {
  readonly conversationId: string
  readonly rolloutPath: string
}

/** The result of it. */
export type ArchiveConversationResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredArchiveConversationParams {
  readonly conversationId: string
}

/** The result of it. */
export interface DeclaredArchiveConversationResult {
  readonly success: boolean
}
