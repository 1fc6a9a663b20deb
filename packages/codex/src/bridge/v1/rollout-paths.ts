import * as z from 'zod'
import type { JsonObject, JsonValue } from '@parley/protocol'

/** Ids that are remembered with their files; the oldest are forgotten first and looked up again. */
const REMEMBERED_MAX = 10_000
/** How far back a conversation is looked for. */
const PAGES_MAX = 200
const PAGE_SIZE = 100

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const Page = z.object({
  items: z.array(z.object({ conversationId: z.string(), path: z.string() })),
  nextCursor: z.string().nullish(),
})

/** Beyond one process: a Codex that is started anew lists no conversation in which nobody has said anything yet. */
const known = new Map<string, string>()

type Ask = (method: string, params: JsonObject) => Promise<JsonValue>

/** These versions resume a conversation by its file alone: this knows the files of the ids. */
export class RolloutPaths {
  readonly #ask: Ask

  constructor(ask: Ask) {
    this.#ask = ask
  }

  remember(id: string, path: string): void {
    known.delete(id)
    known.set(id, path)
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED_MAX) return
      known.delete(oldest)
    }
  }

  /** The file of a conversation; undefined where Codex has none of that id. */
  async find(id: string): Promise<string | undefined> {
    if (!UUID.test(id)) return undefined
    return known.get(id) ?? (await this.#search(id.toLowerCase()))
  }

  async #search(id: string): Promise<string | undefined> {
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer = await this.#ask('listConversations', { pageSize: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) })
      const { items, nextCursor } = Page.parse(answer)
      for (const { conversationId, path } of items) this.remember(conversationId, path)
      const found = items.find(({ conversationId }) => conversationId === id)
      if (found !== undefined) return found.path
      if (typeof nextCursor !== 'string' || items.length === 0) return undefined
      cursor = nextCursor
    }
    return undefined
  }
}
