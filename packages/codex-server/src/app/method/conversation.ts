import { existsSync } from 'node:fs'
import { ConversationUnknown } from '@parley/agent'
import * as z from 'zod'
import { type BackedConversation, BackendError, type ConversationRef } from '@parley/codex/port'
import type { Backend, ConversationShelf } from '../../backend/backend.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { BadParams } from '../answer-error.ts'
import type { App } from '../app.ts'
import { PAGE_SIZE, PAGE_SIZE_MAX } from '../bounds.ts'
import { ConversationParams, Uuid, openOrder } from '../shape/conversation-params.ts'
import { pathOfConversation } from '../shape/conversation-path.ts'
import { given } from '../../backend/given.ts'
import { method } from './method.ts'

export const newConversation = method(ConversationParams, async (params, { app }) => {
  const conversation = await app.conversations.open(openOrder(params, app.folder)).catch((error: unknown) => {
    throw openFailure(error)
  })
  app.listeners.join(conversation)
  const { id, model, effort, rolloutPath } = conversation.backed
  return { conversationId: id, model, reasoningEffort: effort ?? undefined, rolloutPath }
})

/** Codex says so of every order that it cannot follow. */
function openFailure(error: unknown): unknown {
  if (!(error instanceof BackendError) || error.code !== 'invalid_request' || error.message.startsWith('error ')) return error
  const { data } = error
  return new BackendError('invalid_request', `error deriving config: ${error.message}`, {
    ...(data ? { data } : {}),
    cause: error,
  })
}

const ListParams = z.object({
  pageSize: z.int().min(0).nullish(),
  cursor: z.string().nullish(),
})

export const listConversations = method(ListParams, async ({ pageSize, cursor }, { app }) => {
  if (pageSize === 0) return { items: [] }
  const page = { pageSize: Math.min(pageSize ?? PAGE_SIZE, PAGE_SIZE_MAX), ...given({ cursor }) }
  const { items, nextCursor } = await listPage(await app.backend(), page, app)
  return {
    items: items.map(({ conversationId, path, preview, timestamp }) => ({
      conversationId,
      path,
      preview,
      timestamp: timestamp ?? undefined,
    })),
    nextCursor: nextCursor ?? undefined,
  }
})

/** Codex begins anew with a cursor that it does not understand. */
async function listPage({ conversations }: Backend, page: Parameters<ConversationShelf['list']>[0], { notes }: App) {
  try {
    return await conversations.list(page)
  } catch (error) {
    const isCursor = page.cursor !== undefined && error instanceof BackendError && error.code === 'invalid_request'
    if (!isCursor) throw error
    notes.once('cursor', `listConversations: ${error.message}; the first page is given`)
    return conversations.list({ pageSize: page.pageSize })
  }
}

/** The documents declare an id where Codex takes a path. */
const ResumeParams = z.object({
  path: z.string().min(1).nullish(),
  conversationId: Uuid.nullish(),
  overrides: ConversationParams.nullish(),
})

export const resumeConversation = method(ResumeParams, async ({ path, conversationId, overrides }, { app }) => {
  const which = refOf(path ?? undefined, conversationId ?? undefined, app)
  const order = openOrder(overrides ?? {}, app.folder)
  const conversation = await app.conversations.resume(which, order).catch((error: unknown) => {
    throw resumeFailure(error, which)
  })
  app.listeners.join(conversation)
  const { backed } = conversation
  tellConfigured(app, backed)
  return { conversationId: backed.id, model: backed.model, initialMessages: [...backed.initialMessages] }
})

function refOf(path: string | undefined, id: string | undefined, { notes }: App): ConversationRef {
  if (path !== undefined) return { path }
  if (id === undefined) throw new BadParams('path', 'is missing: the file of the conversation')
  notes.once('resume by id', 'resumeConversation: conversationId is taken for the path of that conversation')
  return { id }
}

function resumeFailure(error: unknown, which: ConversationRef): unknown {
  const isPlain = error instanceof BackendError && error.data === undefined && error.code !== 'too_many'
  if (!(error instanceof ConversationUnknown) && !isPlain) return error
  const isMissing = 'path' in which && !existsSync(which.path)
  const why = isMissing ? 'No such file or directory (os error 2)' : error.message.replace(RESUMING, '')
  return new RemoteFailure('internal_error', `error resuming conversation: ${why}`, { code: error.code })
}
const RESUMING = /^error resuming conversation: /

/** Before the answer, as both versions do, each in its own words. */
function tellConfigured({ dialect, tell }: App, backed: BackedConversation): void {
  const { method: word, params } = dialect.configured(backed)
  tell(word, params)
}

const ArchiveParams = z.object({ conversationId: Uuid, rolloutPath: z.string().min(1).nullish() })

export const archiveConversation = method(ArchiveParams, async ({ conversationId: id, rolloutPath }, { app }) => {
  const { conversations, notes } = app
  const backend = await app.backend()
  const conversation = conversations.openOne(id)
  if (!rolloutPath) notes.once('archive by id', 'archiveConversation: rolloutPath is looked up by the id')
  const path = rolloutPath ?? conversation?.backed.rolloutPath ?? (await pathOfConversation(id, backend.conversations))
  // A path that is not that of the conversation is refused by the backend: then nothing has been closed.
  if (conversation === undefined || conversation.backed.rolloutPath !== path) {
    await backend.conversations.archive({ id, path })
    await conversations.forget(id)
  } else {
    const submissions = app.listeners.join(conversation)
    await conversations.forget(id)
    submissions.tellShutdown()
    await backend.conversations.archive({ id, path })
  }
  return {}
})
