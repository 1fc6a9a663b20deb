// Made from packages/contracts/contracts by npm run generate; do not edit.

/** `msg` of `codex/event/error` in Codex 0.44.0. */
export interface ErrorMessage {
  readonly type: 'error'
  readonly message: string
}

/** `msg` of `codex/event/task_started` in Codex 0.44.0. */
export interface TaskStartedMessage {
  readonly type: 'task_started'
  readonly model_context_window: number | null
}

/** `msg` of `codex/event/task_complete` in Codex 0.44.0. */
export interface TaskCompleteMessage {
  readonly type: 'task_complete'
  readonly last_agent_message: string | null
}

/** `msg` of `codex/event/token_count` in Codex 0.44.0. */
export interface TokenCountMessage {
  readonly type: 'token_count'
  readonly info: TokenCountMessageInfo | null
  readonly rate_limits?: TokenCountMessageRateLimits | null
}

export interface TokenCountMessageInfo {
  readonly total_token_usage: TokenCountMessageInfoTotalTokenUsage
  readonly last_token_usage: TokenCountMessageInfoLastTokenUsage
  readonly model_context_window?: number | null
}

export interface TokenCountMessageInfoTotalTokenUsage {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
}

export interface TokenCountMessageInfoLastTokenUsage {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly reasoning_output_tokens: number
  readonly total_tokens: number
}

export interface TokenCountMessageRateLimits {
  readonly primary?: TokenCountMessageRateLimitsPrimary | null
  readonly secondary?: TokenCountMessageRateLimitsSecondary | null
}

export interface TokenCountMessageRateLimitsPrimary {
  readonly used_percent: number
  readonly window_minutes?: number | null
  readonly resets_in_seconds?: number | null
}

export interface TokenCountMessageRateLimitsSecondary {
  readonly used_percent: number
  readonly window_minutes?: number | null
  readonly resets_in_seconds?: number | null
}

/** `msg` of `codex/event/agent_message` in Codex 0.44.0. */
export interface AgentMessageMessage {
  readonly type: 'agent_message'
  readonly message: string
}

/** `msg` of `codex/event/user_message` in Codex 0.44.0. */
export interface UserMessageMessage {
  readonly type: 'user_message'
  readonly message: string
  readonly kind?: 'plain' | 'user_instructions' | 'environment_context'
  readonly images?: readonly string[]
}

/** `msg` of `codex/event/agent_message_delta` in Codex 0.44.0. */
export interface AgentMessageDeltaMessage {
  readonly type: 'agent_message_delta'
  readonly delta: string
}

/** `msg` of `codex/event/agent_reasoning` in Codex 0.44.0. */
export interface AgentReasoningMessage {
  readonly type: 'agent_reasoning'
  readonly text: string
}

/** `msg` of `codex/event/agent_reasoning_delta` in Codex 0.44.0. */
export interface AgentReasoningDeltaMessage {
  readonly type: 'agent_reasoning_delta'
  readonly delta: string
}

/** `msg` of `codex/event/agent_reasoning_raw_content` in Codex 0.44.0. */
export interface AgentReasoningRawContentMessage {
  readonly type: 'agent_reasoning_raw_content'
  readonly text: string
}

/** `msg` of `codex/event/agent_reasoning_raw_content_delta` in Codex 0.44.0. */
export interface AgentReasoningRawContentDeltaMessage {
  readonly type: 'agent_reasoning_raw_content_delta'
  readonly delta: string
}

/** `msg` of `codex/event/agent_reasoning_section_break` in Codex 0.44.0. */
export interface AgentReasoningSectionBreakMessage {
  readonly type: 'agent_reasoning_section_break'
}

/** `msg` of `codex/event/session_configured` in Codex 0.44.0. */
export interface SessionConfiguredMessage {
  readonly type: 'session_configured'
  readonly session_id: string
  readonly model: string
  readonly reasoning_effort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly history_log_id: number
  readonly history_entry_count: number
  readonly initial_messages?: readonly Readonly<Record<string, unknown>>[]
  readonly rollout_path: string
}

/** `msg` of `codex/event/mcp_tool_call_begin` in Codex 0.44.0. */
export interface McpToolCallBeginMessage {
  readonly type: 'mcp_tool_call_begin'
  readonly call_id: string
  readonly invocation: McpToolCallBeginMessageInvocation
}

export interface McpToolCallBeginMessageInvocation {
  readonly server: string
  readonly tool: string
  readonly arguments?: unknown
}

/** `msg` of `codex/event/mcp_tool_call_end` in Codex 0.44.0. */
export interface McpToolCallEndMessage {
  readonly type: 'mcp_tool_call_end'
  readonly call_id: string
  readonly invocation: McpToolCallEndMessageInvocation
  readonly duration: McpToolCallEndMessageDuration
  readonly result: McpToolCallEndMessageResultOk | McpToolCallEndMessageResultErr
}

export interface McpToolCallEndMessageInvocation {
  readonly server: string
  readonly tool: string
  readonly arguments?: unknown
}

export interface McpToolCallEndMessageDuration {
  readonly secs: number
  readonly nanos: number
}

export interface McpToolCallEndMessageResultOk {
  readonly Ok: McpToolCallEndMessageResultOkOk
}

export interface McpToolCallEndMessageResultOkOk {
  readonly content: readonly Readonly<Record<string, unknown>>[]
  readonly isError?: boolean | null
  readonly structuredContent?: unknown
}

export interface McpToolCallEndMessageResultErr {
  readonly Err: string
}

/** `msg` of `codex/event/web_search_begin` in Codex 0.44.0. */
export interface WebSearchBeginMessage {
  readonly type: 'web_search_begin'
  readonly call_id: string
}

/** `msg` of `codex/event/web_search_end` in Codex 0.44.0. */
export interface WebSearchEndMessage {
  readonly type: 'web_search_end'
  readonly call_id: string
  readonly query: string
}

/** `msg` of `codex/event/exec_command_begin` in Codex 0.44.0. */
export interface ExecCommandBeginMessage {
  readonly type: 'exec_command_begin'
  readonly call_id: string
  readonly command: readonly string[]
  readonly cwd: string
  readonly parsed_cmd: readonly ExecCommandBeginMessageParsedCmdItem[]
}

export type ExecCommandBeginMessageParsedCmdItem =
  | ExecCommandBeginMessageParsedCmdItemRead
  | ExecCommandBeginMessageParsedCmdItemListFiles
  | ExecCommandBeginMessageParsedCmdItemSearch
  | ExecCommandBeginMessageParsedCmdItemUnknown

export interface ExecCommandBeginMessageParsedCmdItemRead {
  readonly type: 'read'
  readonly cmd: string
  readonly name: string
}

export interface ExecCommandBeginMessageParsedCmdItemListFiles {
  readonly type: 'list_files'
  readonly cmd: string
  readonly path?: string | null
}

export interface ExecCommandBeginMessageParsedCmdItemSearch {
  readonly type: 'search'
  readonly cmd: string
  readonly query?: string | null
  readonly path?: string | null
}

export interface ExecCommandBeginMessageParsedCmdItemUnknown {
  readonly type: 'unknown'
  readonly cmd: string
}
