// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `codex/event`, as Codex 0.44.0 takes or sends them. */
export interface CodexEventParams {
  readonly id: string
  readonly msg: CodexEventParamsMsg
  readonly conversationId: string
}

export interface CodexEventParamsMsg {
  readonly type: string
}

/** The same as the documents declare it. */
export interface DeclaredCodexEventParams {
  readonly type:
    | 'error'
    | 'task_started'
    | 'task_complete'
    | 'token_count'
    | 'agent_message'
    | 'user_message'
    | 'agent_message_delta'
    | 'agent_reasoning'
    | 'agent_reasoning_delta'
    | 'agent_reasoning_raw_content'
    | 'agent_reasoning_raw_content_delta'
    | 'agent_reasoning_section_break'
    | 'session_configured'
    | 'mcp_tool_call_begin'
    | 'mcp_tool_call_end'
    | 'web_search_begin'
    | 'web_search_end'
    | 'exec_command_begin'
    | 'exec_command_output_delta'
    | 'exec_command_end'
    | 'exec_approval_request'
    | 'apply_patch_approval_request'
    | 'background_event'
    | 'stream_error'
    | 'patch_apply_begin'
    | 'patch_apply_end'
    | 'turn_diff'
    | 'get_history_entry_response'
    | 'mcp_list_tools_response'
    | 'list_custom_prompts_response'
    | 'plan_update'
    | 'turn_aborted'
    | 'shutdown_complete'
    | 'conversation_path'
    | 'entered_review_mode'
    | 'exited_review_mode'
  readonly conversationId?: string
  readonly message?: string
  readonly delta?: string
  readonly text?: string
  readonly callId?: string
  readonly cwd?: string
  readonly info?: DeclaredCodexEventParamsInfo
  readonly changes?: unknown
  readonly autoApproved?: boolean
  readonly stdout?: string
  readonly stderr?: string
  readonly success?: boolean
  readonly unifiedDiff?: string
  readonly _meta?: DeclaredCodexEventParamsMeta
}

export interface DeclaredCodexEventParamsInfo {
  readonly tokenUsage: DeclaredCodexEventParamsInfoTokenUsage
}

export interface DeclaredCodexEventParamsInfoTokenUsage {
  readonly total: unknown
  readonly last: unknown
}

export interface DeclaredCodexEventParamsMeta {
  readonly requestId?: unknown
}
