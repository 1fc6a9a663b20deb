import type { DialectFacts } from '../dialect-facts.ts'
import { INVALID_REQUEST } from '../error-codes.ts'

/** `codex app-server`, which knows one code for all that is wrong with a request. */
export const FACTS: DialectFacts = {
  name: '0.44',
  version: '0.44.0',
  head: {},
  wrongMethod: INVALID_REQUEST,
  wrongParams: INVALID_REQUEST,
  greetsFirst: true,
  readsOverParams: false,
  hasTools: false,
  named: (params) => params,
  configured: ({ id, model, effort, rolloutPath, initialMessages }) => ({
    method: 'sessionConfigured',
    params: {
      sessionId: id,
      model,
      reasoningEffort: effort ?? undefined,
      historyLogId: 0,
      historyEntryCount: 0,
      initialMessages: [...initialMessages],
      rolloutPath,
    },
  }),
}
