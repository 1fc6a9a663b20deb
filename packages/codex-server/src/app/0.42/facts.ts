import type { DialectFacts } from '../dialect-facts.ts'

/** What 0.44 calls otherwise. */
const SNAKE: Readonly<Record<string, string>> = {
  conversationId: 'conversation_id',
  callId: 'call_id',
  fileChanges: 'file_changes',
  grantRoot: 'grant_root',
}

/** `codex mcp`: an MCP server that has the methods beside its tools. Where it says nothing, ours answers. */
export const FACTS: DialectFacts = {
  name: '0.42',
  version: '0.42.0',
  head: { jsonrpc: '2.0' },
  wrongMethod: 'method_not_found',
  wrongParams: 'invalid_params',
  greetsFirst: false,
  readsOverParams: true,
  hasTools: true,
  named: (params) => Object.fromEntries(Object.entries(params).map(([name, value]) => [SNAKE[name] ?? name, value])),
  configured: ({ id, model, effort, rolloutPath, initialMessages }) => ({
    method: 'codex/event',
    params: {
      id: '',
      msg: {
        type: 'session_configured',
        session_id: id,
        model,
        reasoning_effort: effort ?? undefined,
        history_log_id: 0,
        history_entry_count: 0,
        initial_messages: [...initialMessages],
        rollout_path: rolloutPath,
      },
    },
  }),
}
