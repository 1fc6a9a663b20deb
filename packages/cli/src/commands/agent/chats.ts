import { hostname } from 'node:os'
import { CHAT_LIMITS, ChatKey } from '@parley/protocol'
import { type Invocation, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { chatWith, chatWords, newKey } from '@parley/shell'
import { withAgent } from './agents.ts'
import { givenText } from './given-text.ts'

const SAID = {
  doc: 'what to say',
  max: CHAT_LIMITS.textChars,
  tooLong: `a message has at most ${CHAT_LIMITS.textChars} characters`,
}

export const agentChat = (invocation: Invocation): Promise<number> => {
  const words = chatWords(invocation, hostname())
  return withAgent(invocation, (caller, agent_id) => chatWith(caller, agent_id, { words, invocation }))
}

export const agentSay = (invocation: Invocation): Promise<number> => {
  const { io, values } = invocation
  const text = givenText(invocation, SAID)
  const given = ChatKey.optional().safeParse(values.text('key'))
  if (!given.success) throw usageError(`--key ${given.error.issues[0]?.message}`)
  // A gateway that dies before it answers is told again, and it is said once.
  const key = given.data ?? newKey(io.random)
  return withAgent(invocation, async (caller, agent_id) => {
    const { message } = await caller.call('chat.post', { agent_id, text, key })
    return show(invocation, message, `It is message ${message.id}.`)
  })
}
