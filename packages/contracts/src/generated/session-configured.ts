// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `sessionConfigured`, as Codex 0.44.0 takes or sends them. */
export interface SessionConfiguredParams {
  readonly sessionId: string
  readonly model: string
  readonly reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly historyLogId: number
  readonly historyEntryCount: number
  readonly initialMessages?: readonly SessionConfiguredParamsInitialMessagesItem[]
  readonly rolloutPath: string
}

export interface SessionConfiguredParamsInitialMessagesItem {
  readonly type: string
}

/** The same as the documents declare it. */
export interface DeclaredSessionConfiguredParams {
  readonly sessionId: string
  readonly model: string
  readonly reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly historyLogId: number
  readonly historyEntryCount: number
  readonly initialMessages?: readonly DeclaredSessionConfiguredParamsInitialMessagesItem[]
  readonly rolloutPath: string
}

export interface DeclaredSessionConfiguredParamsInitialMessagesItem {
  readonly type: string
}
