import * as z from 'zod'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { EventMessage } from '../../port/backed-conversation.ts'

export const Json: z.ZodType<JsonValue> = z.json()

export const NewConversation = z.object({
  conversationId: z.string(),
  model: z.string(),
  reasoningEffort: z.string().nullish().transform(nullable),
  rolloutPath: z.string(),
})

export const ResumedConversation = z.object({
  conversationId: z.string(),
  model: z.string(),
  initialMessages: z.array(Json).nullish(),
})

export const Subscribed = z.object({ subscriptionId: z.string() })

export const Table: z.ZodType<JsonObject> = z.record(z.string(), Json)
export const SavedConfig = z.object({ config: Table })

/** Told beside the answer to `resumeConversation`: as `sessionConfigured`, or in 0.42 as an event. */
export const SessionConfigured = z
  .object({
    sessionId: z.string().optional(),
    session_id: z.string().optional(),
    reasoningEffort: z.string().nullish(),
    reasoning_effort: z.string().nullish(),
  })
  .transform(({ sessionId, session_id, reasoningEffort, reasoning_effort }) => ({
    id: sessionId ?? session_id ?? '',
    effort: reasoningEffort ?? reasoning_effort ?? null,
  }))
export type SessionConfigured = z.infer<typeof SessionConfigured>

export function messagesOf(values: readonly JsonValue[]): readonly EventMessage[] {
  return values.flatMap((value) => {
    if (!isJsonObject(value)) return []
    const { type } = value
    return typeof type === 'string' ? [{ ...value, type }] : []
  })
}

function nullable(value: string | null | undefined): string | null {
  return value ?? null
}
