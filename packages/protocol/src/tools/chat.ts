import * as z from 'zod'
import { CHAT_LIMITS, ChatKey, ChatMarker, ChatMessage, ChatText } from '../chat/message.ts'
import { AgentId } from '../ids.ts'
import { ADDS, READS, SETS, tool } from '../tool.ts'
import { AgentClaim } from './host.ts'

const After = z.int().min(0)
const Limit = z.int().min(1).max(CHAT_LIMITS.page)
const WaitMs = z.int().min(0).max(CHAT_LIMITS.waitMs)
const Reader = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/, 'must have letters, digits, dots, hyphens and underscores')

/** Messages in order. `last_id` is that of the last one here, or what was asked after; `head` is that of the newest there is. */
export const ChatPage = z.object({ messages: z.array(ChatMessage), last_id: z.int(), head: z.int() })
export type ChatPage = z.infer<typeof ChatPage>

export const chatPost = tool({
  name: 'chat.post',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Says something to an agent, as Markdown. Sent again under the same `key` it is the same message.',
  input: z.strictObject({ agent_id: AgentId, text: ChatText, key: ChatKey.optional() }),
  output: z.object({ message: ChatMessage }),
  annotations: ADDS,
})

export const chatReadSince = tool({
  name: 'chat.read_since',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'What was said after the message `after`, oldest first; waits for the next one where there is none. Left out: the last ones. Reading marks nothing as read.',
  input: z.strictObject({
    agent_id: AgentId,
    after: After.optional(),
    limit: Limit.default(50),
    wait_ms: WaitMs.default(0),
  }),
  output: ChatPage,
  annotations: READS,
})

export const chatMarkRead = tool({
  name: 'chat.mark_read',
  roles: ['user'],
  scopes: ['agents'],
  doc: 'Remembers how far a reader of yours has read: each client under a name of its own (`reader`), or all under one. It never goes back.',
  input: z.strictObject({ agent_id: AgentId, reader: Reader.default('default'), read_to: After }),
  output: z.object({ agent_id: AgentId, marker: ChatMarker }),
  annotations: SETS,
})

export const hostChatPost = tool({
  name: 'host.chat_post',
  roles: ['host'],
  doc: 'Says something in the chat of an agent that this host holds, in its name.',
  input: z.strictObject({ ...AgentClaim.shape, text: ChatText, key: ChatKey.optional() }),
  output: z.object({ message: ChatMessage }),
  annotations: ADDS,
})

export const hostChatRead = tool({
  name: 'host.chat_read',
  roles: ['host'],
  doc: 'The chat of an agent that this host holds, as chat.read_since has it.',
  input: z.strictObject({ ...AgentClaim.shape, after: After.optional(), limit: Limit.default(50), wait_ms: WaitMs.default(0) }),
  output: ChatPage,
  annotations: READS,
})
