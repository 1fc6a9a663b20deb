import type { SteadyClient } from '@parley/client'
import { type AgentId, CHAT_LIMITS, type ChatMessage, type ToolOutput } from '@parley/protocol'

/** A gateway that answers without waiting, and with nothing new, is not asked again before this. */
const PAUSE_MS = 250

/** Where a reader begins: after a message, or with the last so many, by now. */
export type ChatFrom = { readonly after: number } | { readonly last: number }

export interface ReadChatOptions {
  readonly from: ChatFrom
  readonly signal: AbortSignal
  /** Hears what a reader has to know beside the messages. */
  readonly warn: (words: string) => void
}

/** Messages that were read, and up to which one all are read then. */
export interface ReadMessages {
  readonly messages: readonly ChatMessage[]
  readonly readTo: number
  /** The newest there was. */
  readonly head: number
}

type Page = ToolOutput<'chat.read_since'>

/** The messages of an agent's chat, each once and in order, and then those that come, until the signal. The first answer comes in any case. */
export async function* readChat(
  caller: SteadyClient,
  agent_id: AgentId,
  { from, signal, warn }: ReadChatOptions,
): AsyncGenerator<ReadMessages, void, void> {
  const read = (page: { after?: number; limit: number; wait_ms?: number }): Promise<Page | undefined> =>
    caller.call('chat.read_since', { agent_id, ...page }, { signal }).catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw error
    })
  let known = 'after' in from ? from.after : undefined
  let wait_ms = 0
  for (;;) {
    const page = await read({ limit: limitOf(from, known), wait_ms, ...(known === undefined ? {} : { after: known }) })
    if (page === undefined || signal.aborted) return
    const isBegin = known === undefined
    const messages = isBegin && 'last' in from && from.last === 0 ? [] : page.messages
    const [first] = messages
    if (known !== undefined && first !== undefined && first.id > known + 1)
      warn(`${first.id - known - 1} messages after ${known} are not kept any more`)
    // After a backup was put back there may be less than was read.
    if (page.head < (known ?? 0)) warn(`the newest message is ${page.head} now; what comes after it is shown`)
    known = messages.at(-1)?.id ?? (isBegin ? page.head : Math.min(known ?? 0, page.head))
    yield { messages, readTo: known, head: page.head }
    if (messages.length === 0 && wait_ms > 0) await caller.clock.sleep(PAUSE_MS, signal).catch(() => undefined)
    wait_ms = CHAT_LIMITS.waitMs
  }
}

const limitOf = (from: ChatFrom, known: number | undefined): number =>
  known === undefined && 'last' in from ? Math.max(1, from.last) : CHAT_LIMITS.page
