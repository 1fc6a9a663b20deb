import * as z from 'zod'
import { conversationNotFound } from '../answer-error.ts'
import { Uuid } from '../shape/conversation-params.ts'
import { method } from './method.ts'

const AddParams = z.object({ conversationId: Uuid })

/** What happened before is told right after the answer. */
export const addConversationListener = method(AddParams, ({ conversationId }, { app, answered }) => {
  const { conversations, listeners } = app
  if (!conversations.knows(conversationId)) throw conversationNotFound(conversationId)
  const conversation = conversations.openOne(conversationId)
  const outbox = conversation === undefined ? listeners.outboxOf(conversationId) : listeners.join(conversation).outbox
  outbox.hold()
  void answered.then(() => outbox.release())
  return { subscriptionId: listeners.add(outbox) }
})

const RemoveParams = z.object({ subscriptionId: Uuid })

export const removeConversationListener = method(RemoveParams, ({ subscriptionId }, { app }) => {
  app.listeners.remove(subscriptionId)
  return {}
})
