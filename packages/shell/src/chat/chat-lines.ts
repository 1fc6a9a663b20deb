import type { SteadyClient } from '@parley/client'
import { type Agent, CHAT_LIMITS } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { approvalLine } from '../approval/approval-text.ts'
import { followPending } from '../approval/follow-pending.ts'
import { tellNew } from '../approval/watch-approvals.ts'
import { ChatLink } from './chat-link.ts'
import { unlessForbidden, untilFirst } from './side-by-side.ts'
import type { ChatWords } from './chat-options.ts'
import { messageText } from './chat-text.ts'
import { linesOf } from './lines-of.ts'

const INTERRUPTED_EXIT = 130

/**
 * A chat where nobody sits at a terminal: each line of stdin is said, each message and each approval that waits is told as text or as a
 * line of JSON, and nothing is decided. At the end of stdin it ends when all that was said has been told.
 */
export async function chatInLines(
  caller: SteadyClient,
  { agent_id }: Pick<Agent, 'agent_id'>,
  { words, invocation }: { readonly words: ChatWords; readonly invocation: Invocation },
): Promise<number> {
  const { io, values } = invocation
  const over = new AbortController()
  let isInterrupted = false
  const ignore = io.onSignal(() => {
    isInterrupted = true
    over.abort()
  })
  const asJson = values.has('json')
  const tell = (what: object, text: () => string): void => io.out(`${asJson ? JSON.stringify(what) : text()}\n`)
  const warn = (text: string): void => io.err(`${text}\n`)
  const link = new ChatLink(caller, {
    agent_id,
    reader: words.reader,
    random: io.random,
    signal: over.signal,
    heard: (message) => tell({ message }, () => messageText(message, io)),
    warn,
  })
  const speak = async (): Promise<void> => {
    for await (const text of linesOf(io.stdin, { what: 'stdin', maxChars: CHAT_LIMITS.textChars }))
      if (text.trim() !== '') await link.say(text)
    if (!values.has('follow')) await link.leave()
  }
  const tellApprovals = async (): Promise<void> => {
    const heard = tellNew((approval) => tell({ approval }, () => approvalLine(approval)))
    await followPending(caller, { of: agent_id, heard, signal: over.signal }).catch(unlessForbidden(warn))
  }
  try {
    const from = words.from === 'unread' ? { after: await link.place() } : words.from
    await untilFirst(over, { until: link.read(from), beside: [speak(), tellApprovals()], end: () => io.stdin.destroy() })
  } catch (error) {
    if (!isInterrupted) throw error
  } finally {
    ignore()
  }
  return isInterrupted ? INTERRUPTED_EXIT : 0
}
