import { randomUUID } from 'node:crypto'
import type { ChatDesk } from '@parley/agent'
import type { AgentOfGateway } from './gateway-calls.ts'

/** What the agent says to those who follow it, and hears from them. */
export function openChatDesk({ claim, call, signal }: AgentOfGateway): ChatDesk {
  return {
    // A gateway may die before it answers: the next one is told under the same key, and it is said once.
    post: ({ text }) => call('host.chat_post', { ...claim, text, key: randomUUID() }, signal),
    readSince: (page, unwanted) => call('host.chat_read', { ...claim, ...page }, AbortSignal.any([signal, unwanted])),
  }
}
