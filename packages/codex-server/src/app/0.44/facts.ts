import type { DialectFacts } from '../dialect-facts.ts'

/** `codex app-server`, which knows one code for all that is wrong with a request. */
export const FACTS: DialectFacts = {
  name: '0.44',
  version: '0.44.0',
  head: {},
  wrongMethod: 'invalid_request',
  wrongParams: 'invalid_request',
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
