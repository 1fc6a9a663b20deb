/** What a conversation of a Codex is asked for and answers, whoever holds it. */
export type { BackedConversation, ConversationRef, EventMessage } from './backed-conversation.ts'
export { BackendError, type BackendErrorCode } from './backend-error.ts'
export { ApprovalPolicy, type OpenOrder, SandboxMode, type SandboxPolicy, type TurnOrder } from './order.ts'
