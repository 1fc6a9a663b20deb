// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `interruptConversation`, as Codex 0.44.0 takes or sends them. */
export interface InterruptConversationParams {
  readonly conversationId: string
}

/** The result of it. */
export interface InterruptConversationResult {
  readonly abortReason: 'interrupted' | 'replaced' | 'review_ended'
}

/** The same as the documents declare it. */
export interface DeclaredInterruptConversationParams {
  readonly conversationId: string
}

/** The result of it. */
export interface DeclaredInterruptConversationResult {
  readonly success: boolean
  readonly message?: string
}
