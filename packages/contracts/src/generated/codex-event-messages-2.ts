// Made from packages/contracts/contracts by npm run generate; do not edit.

/** `msg` of `codex/event/exec_command_output_delta` in Codex 0.44.0. */
export interface ExecCommandOutputDeltaMessage {
  readonly type: 'exec_command_output_delta'
  readonly call_id: string
  readonly stream: 'stdout' | 'stderr'
  readonly chunk: string
}

/** `msg` of `codex/event/exec_command_end` in Codex 0.44.0. */
export interface ExecCommandEndMessage {
  readonly type: 'exec_command_end'
  readonly call_id: string
  readonly stdout: string
  readonly stderr: string
  readonly aggregated_output: string
  readonly exit_code: number
  readonly duration: ExecCommandEndMessageDuration
  readonly formatted_output: string
}

export interface ExecCommandEndMessageDuration {
  readonly secs: number
  readonly nanos: number
}

/** `msg` of `codex/event/view_image_tool_call` in Codex 0.44.0. */
export interface ViewImageToolCallMessage {
  readonly type: 'view_image_tool_call'
  readonly call_id: string
  readonly path: string
}

/** `msg` of `codex/event/exec_approval_request` in Codex 0.44.0. */
export interface ExecApprovalRequestMessage {
  readonly type: 'exec_approval_request'
  readonly call_id: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly reason?: string
}

/** `msg` of `codex/event/apply_patch_approval_request` in Codex 0.44.0. */
export interface ApplyPatchApprovalRequestMessage {
  readonly type: 'apply_patch_approval_request'
  readonly call_id: string
  readonly changes: Readonly<Record<string, ApplyPatchApprovalRequestMessageChangesValue>>
  readonly reason?: string
  readonly grant_root?: string
}

export type ApplyPatchApprovalRequestMessageChangesValue =
  | ApplyPatchApprovalRequestMessageChangesValueAdd
  | ApplyPatchApprovalRequestMessageChangesValueDelete
  | ApplyPatchApprovalRequestMessageChangesValueUpdate

export interface ApplyPatchApprovalRequestMessageChangesValueAdd {
  readonly add: ApplyPatchApprovalRequestMessageChangesValueAddAdd
}

export interface ApplyPatchApprovalRequestMessageChangesValueAddAdd {
  readonly content: string
}

export interface ApplyPatchApprovalRequestMessageChangesValueDelete {
  readonly delete: ApplyPatchApprovalRequestMessageChangesValueDeleteDelete
}

export interface ApplyPatchApprovalRequestMessageChangesValueDeleteDelete {
  readonly content: string
}

export interface ApplyPatchApprovalRequestMessageChangesValueUpdate {
  readonly update: ApplyPatchApprovalRequestMessageChangesValueUpdateUpdate
}

export interface ApplyPatchApprovalRequestMessageChangesValueUpdateUpdate {
  readonly unified_diff: string
  readonly move_path?: string | null
}

/** `msg` of `codex/event/background_event` in Codex 0.44.0. */
export interface BackgroundEventMessage {
  readonly type: 'background_event'
  readonly message: string
}

/** `msg` of `codex/event/stream_error` in Codex 0.44.0. */
export interface StreamErrorMessage {
  readonly type: 'stream_error'
  readonly message: string
}

/** `msg` of `codex/event/patch_apply_begin` in Codex 0.44.0. */
export interface PatchApplyBeginMessage {
  readonly type: 'patch_apply_begin'
  readonly call_id: string
  readonly auto_approved: boolean
  readonly changes: Readonly<Record<string, PatchApplyBeginMessageChangesValue>>
}

export type PatchApplyBeginMessageChangesValue =
  | PatchApplyBeginMessageChangesValueAdd
  | PatchApplyBeginMessageChangesValueDelete
  | PatchApplyBeginMessageChangesValueUpdate

export interface PatchApplyBeginMessageChangesValueAdd {
  readonly add: PatchApplyBeginMessageChangesValueAddAdd
}

export interface PatchApplyBeginMessageChangesValueAddAdd {
  readonly content: string
}

export interface PatchApplyBeginMessageChangesValueDelete {
  readonly delete: PatchApplyBeginMessageChangesValueDeleteDelete
}

export interface PatchApplyBeginMessageChangesValueDeleteDelete {
  readonly content: string
}

export interface PatchApplyBeginMessageChangesValueUpdate {
  readonly update: PatchApplyBeginMessageChangesValueUpdateUpdate
}

export interface PatchApplyBeginMessageChangesValueUpdateUpdate {
  readonly unified_diff: string
  readonly move_path?: string | null
}

/** `msg` of `codex/event/patch_apply_end` in Codex 0.44.0. */
export interface PatchApplyEndMessage {
  readonly type: 'patch_apply_end'
  readonly call_id: string
  readonly stdout: string
  readonly stderr: string
  readonly success: boolean
}

/** `msg` of `codex/event/turn_diff` in Codex 0.44.0. */
export interface TurnDiffMessage {
  readonly type: 'turn_diff'
  readonly unified_diff: string
}

/** `msg` of `codex/event/get_history_entry_response` in Codex 0.44.0. */
export interface GetHistoryEntryResponseMessage {
  readonly type: 'get_history_entry_response'
  readonly offset: number
  readonly log_id: number
  readonly entry?: GetHistoryEntryResponseMessageEntry
}

export interface GetHistoryEntryResponseMessageEntry {
  readonly conversation_id: string
  readonly ts: number
  readonly text: string
}

/** `msg` of `codex/event/mcp_list_tools_response` in Codex 0.44.0. */
export interface McpListToolsResponseMessage {
  readonly type: 'mcp_list_tools_response'
  readonly tools: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** `msg` of `codex/event/list_custom_prompts_response` in Codex 0.44.0. */
export interface ListCustomPromptsResponseMessage {
  readonly type: 'list_custom_prompts_response'
  readonly custom_prompts: readonly ListCustomPromptsResponseMessageCustomPromptsItem[]
}

export interface ListCustomPromptsResponseMessageCustomPromptsItem {
  readonly name: string
  readonly path: string
  readonly content: string
  readonly description?: string | null
  readonly argument_hint?: string | null
}

/** `msg` of `codex/event/plan_update` in Codex 0.44.0. */
export interface PlanUpdateMessage {
  readonly type: 'plan_update'
  readonly explanation?: string | null
  readonly plan: readonly PlanUpdateMessagePlanItem[]
}

export interface PlanUpdateMessagePlanItem {
  readonly step: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

/** `msg` of `codex/event/turn_aborted` in Codex 0.44.0. */
export interface TurnAbortedMessage {
  readonly type: 'turn_aborted'
  readonly reason: 'interrupted' | 'replaced' | 'review_ended'
}

/** `msg` of `codex/event/shutdown_complete` in Codex 0.44.0. */
export interface ShutdownCompleteMessage {
  readonly type: 'shutdown_complete'
}

/** `msg` of `codex/event/conversation_path` in Codex 0.44.0. */
export interface ConversationPathMessage {
  readonly type: 'conversation_path'
  readonly conversation_id: string
  readonly path: string
}

/** `msg` of `codex/event/entered_review_mode` in Codex 0.44.0. */
export interface EnteredReviewModeMessage {
  readonly type: 'entered_review_mode'
  readonly prompt: string
  readonly user_facing_hint: string
}

/** `msg` of `codex/event/exited_review_mode` in Codex 0.44.0. */
export interface ExitedReviewModeMessage {
  readonly type: 'exited_review_mode'
  readonly review_output?: Readonly<Record<string, unknown>> | null
}
