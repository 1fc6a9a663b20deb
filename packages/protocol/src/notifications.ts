import * as z from 'zod'

/** One message that the server sends without being asked for an answer. */
export interface NotificationSpec {
  readonly method: string
  readonly params: z.ZodObject
  readonly doc: string
}

/** Every notification that a role server sends today. Progress and log messages belong to a request and follow MCP. */
export const NOTIFICATIONS = {
  'notifications/resources/updated': {
    method: 'notifications/resources/updated',
    params: z.object({ uri: z.string() }),
    doc: 'A resource that you subscribed to has changed: read it again. Only subscribers are told.',
  },
} as const satisfies Record<string, NotificationSpec>

export type NotificationMethod = keyof typeof NOTIFICATIONS
