import { cancelLoginChatGpt, getAuthStatus, loginApiKey, loginChatGpt, logoutChatGpt, userInfo } from './method/account.ts'
import { archiveConversation, listConversations, newConversation, resumeConversation } from './method/conversation.ts'
import { getUserAgent, initialize } from './method/initialize.ts'
import { addConversationListener, removeConversationListener } from './method/listener.ts'
import { mcpMethod } from './method/mcp.ts'
import type { Method } from './method/method.ts'
import { getUserSavedConfig, setDefaultModel } from './method/settings.ts'
import { interruptConversation, sendUserMessage, sendUserTurn } from './method/turn.ts'
import { execOneOffCommand, fuzzyFileSearch, gitDiffToRemote } from './method/workspace.ts'

/** Every method that a client may call, once. What is not here is unknown. */
export const METHODS: Readonly<Record<string, Method>> = {
  initialize,
  newConversation,
  listConversations,
  resumeConversation,
  archiveConversation,
  sendUserMessage,
  sendUserTurn,
  interruptConversation,
  addConversationListener,
  removeConversationListener,
  gitDiffToRemote,
  loginApiKey,
  loginChatGpt,
  cancelLoginChatGpt,
  logoutChatGpt,
  getAuthStatus,
  getUserSavedConfig,
  setDefaultModel,
  getUserAgent,
  userInfo,
  fuzzyFileSearch,
  execOneOffCommand,
  ping: mcpMethod,
  'tools/list': mcpMethod,
  'tools/call': mcpMethod,
  'resources/list': mcpMethod,
  'resources/templates/list': mcpMethod,
  'prompts/list': mcpMethod,
}
