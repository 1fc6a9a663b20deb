import type { ConversationShelf } from '../../backend/backend.ts'
import { conversationNotFound } from '../answer-error.ts'
import { PAGE_SIZE_MAX } from '../bounds.ts'

/** Pages that are looked through; who has more conversations says the path. */
const PAGES_MAX = 50

/** The file of a conversation that is not open. */
export async function pathOfConversation(id: string, shelf: ConversationShelf): Promise<string> {
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const asked = cursor === undefined ? {} : { cursor }
    const { items, nextCursor } = await shelf.list({ pageSize: PAGE_SIZE_MAX, ...asked })
    const found = items.find(({ conversationId }) => conversationId === id)
    if (found !== undefined) return found.path
    if (nextCursor === null || nextCursor === cursor) break
    cursor = nextCursor
  }
  throw conversationNotFound(id)
}
