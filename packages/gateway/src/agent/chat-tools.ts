import { nameOf, type ToolContext, untilSo } from '@parley/access'
import { type AgentId, CHAT_LIMITS, type ChatMarker, type ChatMessage, type ChatPage, TOOLS, iso } from '@parley/protocol'
import { type ChatMarkerRecord, type ChatRecord, NotFound, chatTopic } from '@parley/store'
import { waitSignal } from '../job/tools.ts'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { findAgent, noSuchAgent } from './find-agent.ts'
import { asHost } from './held-agent.ts'

/** People write what they like, and it is kept as JSON. */
const SAID = { anyText: ['text'] }

export const chatPost = serveTool(
  TOOLS['chat.post'],
  async ({ agent_id: id, text, key }, context) => {
    context.target = id
    const { store } = context.world
    await findAgent(store, id, context.caller)
    const said = { text, by: nameOf(context.caller), ...(key === undefined ? {} : { key }) }
    return { message: messageView(await unlessGone(id, store.chats.post(id, said))) }
  },
  SAID,
)

export const chatReadSince = serveTool(TOOLS['chat.read_since'], async ({ agent_id: id, ...page }, context) => {
  await findAgent(context.world.store, id, context.caller)
  return readChat(context, id, page)
})

export const chatMarkRead = serveTool(TOOLS['chat.mark_read'], async ({ agent_id: id, reader, read_to: readTo }, context) => {
  const { store } = context.world
  await findAgent(store, id, context.caller)
  const marker = await unlessGone(id, store.chats.mark(id, `${nameOf(context.caller)}/${reader}`, readTo))
  return { agent_id: id, marker: markerView(marker) }
})

export const hostChatPost = serveTool(
  TOOLS['host.chat_post'],
  ({ text, key, ...claim }, context) =>
    asHost(claim, context, async (fence, { name }) => {
      const said = { text, by: name, ...(key === undefined ? {} : { key }) }
      return { message: messageView(await context.world.store.chats.postAsAgent(fence, said)) }
    }),
  SAID,
)

export const hostChatRead = serveTool(TOOLS['host.chat_read'], ({ after, limit, wait_ms, ...claim }, context) =>
  asHost(claim, context, (_fence, { id }) =>
    readChat(context, id, { limit, wait_ms, ...(after === undefined ? {} : { after }) }),
  ),
)

/** What is kept of a chat, as its resource shows it: the last messages, and how far whoever reads has read. */
export async function chatView(
  { chats }: AgentWorld['store'],
  id: AgentId,
): Promise<ChatPage & { readonly markers: readonly ChatMarker[] }> {
  const [{ messages, head }, markers] = await Promise.all([chats.read(id, { limit: SHOWN }), chats.markers(id)])
  return { ...pageOf(messages, 0, head), markers: markers.map(markerView) }
}
const SHOWN = 50

async function readChat(
  context: ToolContext<AgentWorld>,
  id: AgentId,
  { after, limit, wait_ms: waitMs }: { readonly after?: number | undefined; readonly limit: number; readonly wait_ms: number },
): Promise<ChatPage> {
  const { chats, topics } = context.world.store
  const page = { limit, ...(after === undefined ? {} : { after }) }
  const found = await untilSo(
    { topics },
    { topic: chatTopic(id), read: () => chats.read(id, page), isWanted: ({ messages }) => messages.length > 0 },
    { waitMs, signal: waitSignal(context) },
  )
  return pageOf(found?.messages ?? [], after ?? 0, found?.head ?? 0)
}

/** As many whole messages as an answer may hold; the first of them in any case. */
function pageOf(messages: readonly ChatRecord[], after: number, head: number): ChatPage {
  let chars = 0
  const fitting = messages.filter(({ text }, index) => (chars += text.length) <= CHAT_LIMITS.pageChars || index === 0)
  return { messages: fitting.map(messageView), last_id: fitting.at(-1)?.number ?? after, head }
}

async function unlessGone<Kept>(id: AgentId, kept: Promise<Kept>): Promise<Kept> {
  try {
    return await kept
  } catch (error) {
    // It was deleted in between.
    throw error instanceof NotFound ? noSuchAgent(id) : error
  }
}

const messageView = ({ number: id, createdAt, from, by, text }: ChatRecord): ChatMessage => ({
  id,
  at: iso(createdAt),
  from,
  by,
  text,
})

const markerView = ({ reader, readTo, updatedAt }: ChatMarkerRecord): ChatMarker => ({
  reader,
  read_to: readTo,
  at: iso(updatedAt),
})
