// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `applyPatchApproval`, as Codex 0.44.0 takes or sends them. */
export interface ApplyPatchApprovalParams {
  readonly conversationId: string
  readonly callId: string
  readonly fileChanges: Readonly<Record<string, ApplyPatchApprovalParamsFileChangesValue>>
  readonly reason?: string
  readonly grantRoot?: string
}

export type ApplyPatchApprovalParamsFileChangesValue =
  | ApplyPatchApprovalParamsFileChangesValueAdd
  | ApplyPatchApprovalParamsFileChangesValueDelete
  | ApplyPatchApprovalParamsFileChangesValueUpdate

export interface ApplyPatchApprovalParamsFileChangesValueAdd {
  readonly add: ApplyPatchApprovalParamsFileChangesValueAddAdd
}

export interface ApplyPatchApprovalParamsFileChangesValueAddAdd {
  readonly content: string
}

export interface ApplyPatchApprovalParamsFileChangesValueDelete {
  readonly delete: ApplyPatchApprovalParamsFileChangesValueDeleteDelete
}

export interface ApplyPatchApprovalParamsFileChangesValueDeleteDelete {
  readonly content: string
}

export interface ApplyPatchApprovalParamsFileChangesValueUpdate {
  readonly update: ApplyPatchApprovalParamsFileChangesValueUpdateUpdate
}

export interface ApplyPatchApprovalParamsFileChangesValueUpdateUpdate {
  readonly unified_diff: string
  readonly move_path?: string | null
}

/** The result of it. */
export interface ApplyPatchApprovalResult {
  readonly decision: 'approved' | 'approved_for_session' | 'denied' | 'abort'
}

/** The same as the documents declare it. */
export interface DeclaredApplyPatchApprovalParams {
  readonly conversationId: string
  readonly callId: string
  readonly fileChanges: readonly DeclaredApplyPatchApprovalParamsFileChangesItem[]
  readonly reason?: string
  readonly grantRoot?: boolean
}

export interface DeclaredApplyPatchApprovalParamsFileChangesItem {
  readonly path: string
  readonly type: 'create' | 'modify' | 'delete'
  readonly diff: string
  readonly contentPreview?: string
}

/** The result of it. */
export interface DeclaredApplyPatchApprovalResult {
  readonly decision: 'allow' | 'deny'
  readonly note?: string
}
