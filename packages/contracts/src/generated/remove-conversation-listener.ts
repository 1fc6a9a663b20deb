// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `removeConversationListener`, as Codex 0.44.0 takes or sends them. */
export interface RemoveConversationListenerParams {
  readonly subscriptionId: string
}

/** The result of it. */
export type RemoveConversationListenerResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredRemoveConversationListenerParams {
  readonly subscriptionId: string
}

/** The result of it. */
export type DeclaredRemoveConversationListenerResult = Readonly<Record<string, never>>
