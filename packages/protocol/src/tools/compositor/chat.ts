import * as z from 'zod'
import { CHAT_LIMITS, ChatMessage, ChatText } from '../../chat/message.ts'
import { ADDS, READS, tool } from '../../tool.ts'
import { ChatPage } from '../chat.ts'

export const chatPostOwn = tool({
  name: 'chat_post',
  roles: ['agent'],
  doc: 'Says something to the people who follow this agent, as Markdown: the way to answer what they write in its chat. They read it when they look; nobody is waited for.',
  input: z.strictObject({ text: ChatText }),
  output: z.object({ message: ChatMessage }),
  annotations: ADDS,
})

export const chatReadSinceOwn = tool({
  name: 'chat_read_since',
  roles: ['agent'],
  doc: 'What was said in the agent’s chat after the message `after`, oldest first, its own words too; left out: the last messages. Waits `wait_ms` for the next one where there is none.',
  input: z.strictObject({
    after: z.int().min(0).optional(),
    limit: z.int().min(1).max(CHAT_LIMITS.page).default(50),
    wait_ms: z.int().min(0).max(CHAT_LIMITS.waitMs).default(0),
  }),
  output: ChatPage,
  annotations: READS,
})
