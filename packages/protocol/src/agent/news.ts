import * as z from 'zod'
import { AGENT_LIMITS } from './limits.ts'
import { NewsKind } from './wake.ts'

/** What is said of a piece of news that is no message of the chat. */
export const NewsText = z.string().max(AGENT_LIMITS.newsChars)

/** One thing that an agent is to be told. `subject`: the URI of a resource, the id of a call. */
export const NewsItem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('chat'), id: z.int(), at: z.iso.datetime(), by: z.string(), text: z.string() }),
  z.object({ kind: NewsKind.exclude(['chat']), subject: z.string(), at: z.iso.datetime(), text: NewsText }),
])
export type NewsItem = z.infer<typeof NewsItem>

/** Up to where an agent was told: a place among its news, and one in its chat. */
export const Heard = z.strictObject({ news: z.int().min(0), chat: z.int().min(0) })
export type Heard = z.infer<typeof Heard>

/** What is to be told now, oldest first, and up to where that is. */
export const NewsPage = z.object({ items: z.array(NewsItem), heard: Heard })
export type NewsPage = z.infer<typeof NewsPage>
