import * as z from 'zod'

/** Every bound of what people and an agent say to each other, by name. */
export const CHAT_LIMITS = {
  /** One message, in characters. */
  textChars: 64 * 1024,
  /** The newest that are kept of one agent. */
  kept: 10_000,
  /** Readers of one agent whose places are kept; those that moved last stay. */
  markers: 256,
  /** Messages of one answer, and what their texts may have together. */
  page: 200,
  pageChars: 512 * 1024,
  /** The longest that somebody waits in one call for the next message. */
  waitMs: 30_000,
} as const

/** Markdown; whoever shows it makes no markup of it. */
export const ChatText = z.string().min(1).max(CHAT_LIMITS.textChars)
/** Says that two posts are one: whoever was cut off posts again under the same key. */
export const ChatKey = z.string().regex(/^[\x21-\x7e]{1,64}$/, 'must have 1 to 64 visible ASCII characters')

/** One message. `id` is its place among all of that agent, from one, without a gap. */
export const ChatMessage = z.object({
  id: z.int(),
  at: z.iso.datetime(),
  /** Whether the agent said it, or a person. */
  from: z.enum(['agent', 'person']),
  by: z.string(),
  text: z.string(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

/** How far one reader has read. */
export const ChatMarker = z.object({ reader: z.string(), read_to: z.int(), at: z.iso.datetime() })
export type ChatMarker = z.infer<typeof ChatMarker>
