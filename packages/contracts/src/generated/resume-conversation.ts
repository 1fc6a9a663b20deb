// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `resumeConversation`, as Codex 0.44.0 takes or sends them. */
export interface ResumeConversationParams {
  readonly path: string
  readonly overrides?: ResumeConversationParamsOverrides | null
}

export interface ResumeConversationParamsOverrides {
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
export interface ResumeConversationResult {
  readonly conversationId: string
  readonly model: string
  readonly initialMessages?: readonly ResumeConversationResultInitialMessagesItem[]
}

export interface ResumeConversationResultInitialMessagesItem {
  readonly type: string
}

/** The same as the documents declare it. */
export interface DeclaredResumeConversationParams {
  readonly conversationId: string
}

/** The result of it. */
export interface DeclaredResumeConversationResult {
  readonly success: boolean
  readonly conversationId?: string
}
