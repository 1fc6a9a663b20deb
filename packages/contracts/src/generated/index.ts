// Made from packages/contracts/contracts by npm run generate; do not edit.
export type {
  DeclaredNewConversationParams,
  DeclaredNewConversationResult,
  NewConversationParams,
  NewConversationResult,
} from './new-conversation.ts'
export type {
  DeclaredSendUserMessageParams,
  DeclaredSendUserMessageParamsItemsItem,
  DeclaredSendUserMessageResult,
  SendUserMessageParams,
  SendUserMessageParamsItemsItem,
  SendUserMessageParamsItemsItemImage,
  SendUserMessageParamsItemsItemImageData,
  SendUserMessageParamsItemsItemLocalImage,
  SendUserMessageParamsItemsItemLocalImageData,
  SendUserMessageParamsItemsItemText,
  SendUserMessageParamsItemsItemTextData,
  SendUserMessageResult,
} from './send-user-message.ts'
export type {
  DeclaredSendUserTurnParams,
  DeclaredSendUserTurnParamsItemsItem,
  DeclaredSendUserTurnResult,
  SendUserTurnParams,
  SendUserTurnParamsItemsItem,
  SendUserTurnParamsItemsItemImage,
  SendUserTurnParamsItemsItemImageData,
  SendUserTurnParamsItemsItemLocalImage,
  SendUserTurnParamsItemsItemLocalImageData,
  SendUserTurnParamsItemsItemText,
  SendUserTurnParamsItemsItemTextData,
  SendUserTurnParamsSandboxPolicyDangerFullAccess,
  SendUserTurnParamsSandboxPolicyReadOnly,
  SendUserTurnParamsSandboxPolicyWorkspaceWrite,
  SendUserTurnResult,
} from './send-user-turn.ts'
export type {
  DeclaredInterruptConversationParams,
  DeclaredInterruptConversationResult,
  InterruptConversationParams,
  InterruptConversationResult,
} from './interrupt-conversation.ts'
export type {
  DeclaredListConversationsParams,
  DeclaredListConversationsResult,
  DeclaredListConversationsResultConversationsItem,
  ListConversationsParams,
  ListConversationsResult,
  ListConversationsResultItemsItem,
} from './list-conversations.ts'
export type {
  DeclaredResumeConversationParams,
  DeclaredResumeConversationResult,
  ResumeConversationParams,
  ResumeConversationParamsOverrides,
  ResumeConversationResult,
  ResumeConversationResultInitialMessagesItem,
} from './resume-conversation.ts'
export type {
  ArchiveConversationParams,
  ArchiveConversationResult,
  DeclaredArchiveConversationParams,
  DeclaredArchiveConversationResult,
} from './archive-conversation.ts'
export type {
  DeclaredGetUserSavedConfigParams,
  DeclaredGetUserSavedConfigResult,
  DeclaredGetUserSavedConfigResultConfig,
  DeclaredGetUserSavedConfigResultConfigProfilesValue,
  DeclaredGetUserSavedConfigResultConfigSandboxSettings,
  DeclaredGetUserSavedConfigResultConfigTools,
  GetUserSavedConfigParams,
  GetUserSavedConfigResult,
  GetUserSavedConfigResultConfig,
  GetUserSavedConfigResultConfigProfilesValue,
  GetUserSavedConfigResultConfigSandboxSettings,
  GetUserSavedConfigResultConfigTools,
} from './get-user-saved-config.ts'
export type {
  DeclaredSetDefaultModelParams,
  DeclaredSetDefaultModelResult,
  SetDefaultModelParams,
  SetDefaultModelResult,
} from './set-default-model.ts'
export type {
  DeclaredGetUserAgentParams,
  DeclaredGetUserAgentResult,
  GetUserAgentParams,
  GetUserAgentResult,
} from './get-user-agent.ts'
export type { DeclaredUserInfoParams, DeclaredUserInfoResult, UserInfoParams, UserInfoResult } from './user-info.ts'
export type {
  DeclaredLoginApiKeyParams,
  DeclaredLoginApiKeyResult,
  LoginApiKeyParams,
  LoginApiKeyResult,
} from './login-api-key.ts'
export type {
  DeclaredLoginChatGptParams,
  DeclaredLoginChatGptResult,
  LoginChatGptParams,
  LoginChatGptResult,
} from './login-chat-gpt.ts'
export type {
  CancelLoginChatGptParams,
  CancelLoginChatGptResult,
  DeclaredCancelLoginChatGptParams,
  DeclaredCancelLoginChatGptResult,
} from './cancel-login-chat-gpt.ts'
export type {
  DeclaredLogoutChatGptParams,
  DeclaredLogoutChatGptResult,
  LogoutChatGptParams,
  LogoutChatGptResult,
} from './logout-chat-gpt.ts'
export type {
  DeclaredGetAuthStatusParams,
  DeclaredGetAuthStatusResult,
  GetAuthStatusParams,
  GetAuthStatusResult,
} from './get-auth-status.ts'
export type {
  DeclaredGitDiffToRemoteParams,
  DeclaredGitDiffToRemoteResult,
  GitDiffToRemoteParams,
  GitDiffToRemoteResult,
} from './git-diff-to-remote.ts'
export type {
  DeclaredExecOneOffCommandParams,
  DeclaredExecOneOffCommandResult,
  ExecOneOffCommandParams,
  ExecOneOffCommandParamsSandboxPolicyDangerFullAccess,
  ExecOneOffCommandParamsSandboxPolicyReadOnly,
  ExecOneOffCommandParamsSandboxPolicyWorkspaceWrite,
  ExecOneOffCommandResult,
} from './exec-one-off-command.ts'
export type {
  ApplyPatchApprovalParams,
  ApplyPatchApprovalParamsFileChangesValue,
  ApplyPatchApprovalParamsFileChangesValueAdd,
  ApplyPatchApprovalParamsFileChangesValueAddAdd,
  ApplyPatchApprovalParamsFileChangesValueDelete,
  ApplyPatchApprovalParamsFileChangesValueDeleteDelete,
  ApplyPatchApprovalParamsFileChangesValueUpdate,
  ApplyPatchApprovalParamsFileChangesValueUpdateUpdate,
  ApplyPatchApprovalResult,
  DeclaredApplyPatchApprovalParams,
  DeclaredApplyPatchApprovalParamsFileChangesItem,
  DeclaredApplyPatchApprovalResult,
} from './apply-patch-approval.ts'
export type {
  DeclaredExecCommandApprovalParams,
  DeclaredExecCommandApprovalResult,
  ExecCommandApprovalParams,
  ExecCommandApprovalResult,
} from './exec-command-approval.ts'
export type { DeclaredLoginChatGptCompleteParams, LoginChatGptCompleteParams } from './login-chat-gpt-complete.ts'
export type { AuthStatusChangeParams, DeclaredAuthStatusChangeParams } from './auth-status-change.ts'
export type {
  CodexEventParams,
  CodexEventParamsMsg,
  DeclaredCodexEventParams,
  DeclaredCodexEventParamsInfo,
  DeclaredCodexEventParamsInfoTokenUsage,
  DeclaredCodexEventParamsMeta,
} from './codex-event.ts'
export type {
  AgentMessageDeltaMessage,
  AgentMessageMessage,
  AgentReasoningDeltaMessage,
  AgentReasoningMessage,
  AgentReasoningRawContentDeltaMessage,
  AgentReasoningRawContentMessage,
  AgentReasoningSectionBreakMessage,
  ErrorMessage,
  ExecCommandBeginMessage,
  ExecCommandBeginMessageParsedCmdItem,
  ExecCommandBeginMessageParsedCmdItemListFiles,
  ExecCommandBeginMessageParsedCmdItemRead,
  ExecCommandBeginMessageParsedCmdItemSearch,
  ExecCommandBeginMessageParsedCmdItemUnknown,
  McpToolCallBeginMessage,
  McpToolCallBeginMessageInvocation,
  McpToolCallEndMessage,
  McpToolCallEndMessageDuration,
  McpToolCallEndMessageInvocation,
  McpToolCallEndMessageResultErr,
  McpToolCallEndMessageResultOk,
  McpToolCallEndMessageResultOkOk,
  SessionConfiguredMessage,
  TaskCompleteMessage,
  TaskStartedMessage,
  TokenCountMessage,
  TokenCountMessageInfo,
  TokenCountMessageInfoLastTokenUsage,
  TokenCountMessageInfoTotalTokenUsage,
  TokenCountMessageRateLimits,
  TokenCountMessageRateLimitsPrimary,
  TokenCountMessageRateLimitsSecondary,
  UserMessageMessage,
  WebSearchBeginMessage,
  WebSearchEndMessage,
} from './codex-event-messages-1.ts'
export type {
  ApplyPatchApprovalRequestMessage,
  ApplyPatchApprovalRequestMessageChangesValue,
  ApplyPatchApprovalRequestMessageChangesValueAdd,
  ApplyPatchApprovalRequestMessageChangesValueAddAdd,
  ApplyPatchApprovalRequestMessageChangesValueDelete,
  ApplyPatchApprovalRequestMessageChangesValueDeleteDelete,
  ApplyPatchApprovalRequestMessageChangesValueUpdate,
  ApplyPatchApprovalRequestMessageChangesValueUpdateUpdate,
  BackgroundEventMessage,
  ConversationPathMessage,
  EnteredReviewModeMessage,
  ExecApprovalRequestMessage,
  ExecCommandEndMessage,
  ExecCommandEndMessageDuration,
  ExecCommandOutputDeltaMessage,
  ExitedReviewModeMessage,
  GetHistoryEntryResponseMessage,
  GetHistoryEntryResponseMessageEntry,
  ListCustomPromptsResponseMessage,
  ListCustomPromptsResponseMessageCustomPromptsItem,
  McpListToolsResponseMessage,
  PatchApplyBeginMessage,
  PatchApplyBeginMessageChangesValue,
  PatchApplyBeginMessageChangesValueAdd,
  PatchApplyBeginMessageChangesValueAddAdd,
  PatchApplyBeginMessageChangesValueDelete,
  PatchApplyBeginMessageChangesValueDeleteDelete,
  PatchApplyBeginMessageChangesValueUpdate,
  PatchApplyBeginMessageChangesValueUpdateUpdate,
  PatchApplyEndMessage,
  PlanUpdateMessage,
  PlanUpdateMessagePlanItem,
  ShutdownCompleteMessage,
  StreamErrorMessage,
  TurnAbortedMessage,
  TurnDiffMessage,
  ViewImageToolCallMessage,
} from './codex-event-messages-2.ts'
export type {
  AddConversationListenerParams,
  AddConversationListenerResult,
  DeclaredAddConversationListenerParams,
  DeclaredAddConversationListenerResult,
} from './add-conversation-listener.ts'
export type {
  DeclaredRemoveConversationListenerParams,
  DeclaredRemoveConversationListenerResult,
  RemoveConversationListenerParams,
  RemoveConversationListenerResult,
} from './remove-conversation-listener.ts'
export type {
  DeclaredSessionConfiguredParams,
  DeclaredSessionConfiguredParamsInitialMessagesItem,
  SessionConfiguredParams,
  SessionConfiguredParamsInitialMessagesItem,
} from './session-configured.ts'
export type {
  DeclaredFuzzyFileSearchParams,
  DeclaredFuzzyFileSearchResult,
  DeclaredFuzzyFileSearchResultFilesItem,
  FuzzyFileSearchParams,
  FuzzyFileSearchResult,
  FuzzyFileSearchResultFilesItem,
} from './fuzzy-file-search.ts'
export type {
  DeclaredInitializeParams,
  DeclaredInitializeParamsClientInfo,
  DeclaredInitializeResult,
  InitializeParams,
  InitializeParamsClientInfo,
  InitializeResult,
} from './initialize.ts'
