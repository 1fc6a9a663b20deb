import type { Backend } from '../../backend/backend.ts'
import type { BackedConversation, ConversationRef, OpenOrder } from '@parley/codex/port'
import { SharedConversation } from './shared-conversation.ts'

/**
 * One backend for the methods and the tools of one wire: a conversation that one of them has open is the same to the
 * other. It is closed when neither needs it.
 */
export interface SharedBackend extends Backend {
  /** How a conversation was opened that somebody has open. */
  held(id: string): OpenOrder | undefined
}

export function shareBackend(backend: Backend): SharedBackend {
  const open = new Map<string, SharedConversation>()
  const share = async (
    order: OpenOrder,
    begin: (shared: SharedConversation) => Promise<BackedConversation>,
  ): Promise<SharedConversation> => {
    const shared = new SharedConversation(order)
    const backed = await begin(shared)
    shared.attach(backed, () => {
      if (open.get(backed.id) === shared) open.delete(backed.id)
    })
    open.set(backed.id, shared)
    return shared
  }
  const isThis = (shared: SharedConversation, which: ConversationRef): boolean =>
    'id' in which ? shared.backed.id === which.id.toLowerCase() : shared.backed.rolloutPath === which.path
  return {
    engine: backend.engine,
    get version() {
      return backend.version
    },
    settings: backend.settings,
    account: backend.account,
    workspace: backend.workspace,
    open: async (order, listener) => {
      const shared = await share(order, (made) => backend.open(order, made.listener))
      return shared.sit(listener)
    },
    resume: async (which, order, listener) => {
      const live = [...open.values()].find((shared) => isThis(shared, which))
      if (live !== undefined) return live.sit(listener)
      const shared = await share(order, (made) => backend.resume(which, order, made.listener))
      return shared.sit(listener)
    },
    conversations: {
      list: (page) => backend.conversations.list(page),
      archive: async (which) => {
        await backend.conversations.archive(which)
        await open.get(which.id.toLowerCase())?.close()
      },
    },
    held: (id) => open.get(id.toLowerCase())?.order,
    close: () => backend.close(),
  }
}
