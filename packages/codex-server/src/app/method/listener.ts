import * as z from 'zod'
import { Uuid } from '../shape/conversation-params.ts'
import { method } from './method.ts'

const AddParams = z.object({ conversationId: Uuid })

/** What happened before is told right after the answer. */
export const addConversationListener = method(AddParams, async ({ conversationId }, { app, answered }) => {
  const { conversations } = app
  const outbox = await conversations.outbox(conversationId)
  outbox.hold()
  void answered.then(() => outbox.release())
  return { subscriptionId: conversations.listeners.add(outbox) }
})

const RemoveParams = z.object({ subscriptionId: Uuid })

export const removeConversationListener = method(RemoveParams, ({ subscriptionId }, { app }) => {
  app.conversations.listeners.remove(subscriptionId)
  return {}
})
