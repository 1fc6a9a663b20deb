// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `execCommandApproval`, as Codex 0.44.0 takes or sends them. */
export interface ExecCommandApprovalParams {
  readonly conversationId: string
  readonly callId: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly reason?: string
}

/** The result of it. */
export interface ExecCommandApprovalResult {
  readonly decision: 'approved' | 'approved_for_session' | 'denied' | 'abort'
}

/** The same as the documents declare it. */
export interface DeclaredExecCommandApprovalParams {
  readonly conversationId: string
  readonly callId: string
  readonly command: string
  readonly cwd: string
  readonly reason?: string
}

/** The result of it. */
export interface DeclaredExecCommandApprovalResult {
  readonly decision: 'allow' | 'deny'
  readonly note?: string
}
