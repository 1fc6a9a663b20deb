// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `newConversation`, as Codex 0.44.0 takes or sends them. */
export interface NewConversationParams {
  readonly model?: string | null
  readonly profile?: string | null
  readonly cwd?: string | null
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never' | null
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access' | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly baseInstructions?: string | null
  readonly includePlanTool?: boolean | null
  readonly includeApplyPatchTool?: boolean | null
}

/** The result of it. */
export interface NewConversationResult {
  readonly conversationId: string
  readonly model: string
  readonly reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly rolloutPath: string
}

/** The same as the documents declare it. */
export interface DeclaredNewConversationParams {
  readonly model?: string
  readonly profile?: string
  readonly cwd?: string
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly config?: Readonly<Record<string, unknown>>
  readonly baseInstructions?: string
  readonly includePlanTool?: boolean
  readonly includeApplyPatchTool?: boolean
}

/** The result of it. */
export interface DeclaredNewConversationResult {
  readonly conversationId: string
  readonly model: string
  readonly rolloutPath?: string
  readonly reasoningEffort?: 'low' | 'medium' | 'high'
}
