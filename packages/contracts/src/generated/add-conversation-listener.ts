// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `addConversationListener`, as Codex 0.44.0 takes or sends them. */
export interface AddConversationListenerParams {
  readonly conversationId: string
}

/** The result of it. */
export interface AddConversationListenerResult {
  readonly subscriptionId: string
}

/** The same as the documents declare it. */
export interface DeclaredAddConversationListenerParams {
  readonly conversationId: string
}

/** The result of it. */
export interface DeclaredAddConversationListenerResult {
  readonly subscriptionId: string
}
