import type { SteadyClient } from '@parley/client'
import type { AgentId } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { canAsk } from '@parley/command-line/commands'
import { chatInLines } from './chat-lines.ts'
import { chatLive } from './chat-live.ts'
import type { ChatWords } from './chat-options.ts'

/** Reads and speaks in the chat of an agent until it is left. Answers the exit code. */
export async function chatWith(
  caller: SteadyClient,
  agent_id: AgentId,
  { words, invocation }: { readonly words: ChatWords; readonly invocation: Invocation },
): Promise<number> {
  const { io, values } = invocation
  const agent = await caller.call('agent.get', { agent_id })
  const isSeen = io.screen() !== undefined && canAsk(io) && !values.has('json')
  if (!isSeen) return chatInLines(caller, agent, { words, invocation })
  return chatLive(caller, agent, { words, io })
}
