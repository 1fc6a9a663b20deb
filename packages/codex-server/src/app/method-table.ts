/** Who calls: the client, or the server. Notifications have no answer. */
export type MethodKind = 'request' | 'question' | 'notification'

/** One method of the old app-server: what comes of it on each engine. */
export interface MethodRow {
  readonly method: string
  readonly kind: MethodKind
  readonly dialects: readonly ('0.42' | '0.44')[]
  /** What the client gets. */
  readonly result: string
  /** Where a real Codex stands behind it. */
  readonly codex: string
  /** Where our own engine does. */
  readonly mini: string
  /** What the real server of that version does otherwise, and was wrong. */
  readonly fixed?: string
}

const BOTH = ['0.42', '0.44'] as const
const NEWER = ['0.44'] as const
const OLDER = ['0.42'] as const

/** Every method and notification, in the order of the table in the documents. */
export const METHOD_TABLE: readonly MethodRow[] = [
  {
    method: 'initialize',
    kind: 'request',
    dialects: BOTH,
    result: '0.44: `{userAgent}`, first and once. 0.42: as in MCP, and not needed',
    codex: 'answered by Parley; Codex is started by the first request that needs it',
    mini: 'answered by Parley',
  },
  {
    method: 'newConversation',
    kind: 'request',
    dialects: BOTH,
    result: '`{conversationId, model, reasoningEffort?, rolloutPath}`',
    codex: 'a thread of the Codex behind it, with its configuration, profile and `config`',
    mini: 'a conversation of our own engine, kept in a file under the data folder',
    fixed: '0.42 leaves bad parameters unanswered; here they are named in `data.param`',
  },
  {
    method: 'addConversationListener',
    kind: 'request',
    dialects: BOTH,
    result: '`{subscriptionId}`, then what has happened since the conversation began',
    codex: 'the same on both',
    mini: 'the same on both',
    fixed: 'two listeners do not take events from each other',
  },
  {
    method: 'removeConversationListener',
    kind: 'request',
    dialects: BOTH,
    result: '`{}`; a second time: `subscription not found`',
    codex: 'the same on both',
    mini: 'the same on both',
  },
  {
    method: 'sendUserMessage',
    kind: 'request',
    dialects: BOTH,
    result: '`{}` at once, then events. During a turn it goes into that turn',
    codex: 'a turn of the thread, or a steered one',
    mini: 'a turn of our own engine, or a steered one',
    fixed:
      'a message during the last answer of a turn is not lost: it is the next turn, after an interruption the beginning of what is said next. Flat items are read',
  },
  {
    method: 'sendUserTurn',
    kind: 'request',
    dialects: BOTH,
    result: '`{}` at once, then events. During a turn it waits for its end',
    codex: 'folder, approval policy, sandbox, model, effort and summary hold for the turn',
    mini: 'the same; `summary` is for reasoning models',
    fixed: 'the real one keeps what a turn sets for all later ones, and drops it during a turn; `sandboxPolicy` as text is read',
  },
  {
    method: 'interruptConversation',
    kind: 'request',
    dialects: BOTH,
    result: '`codex/event/turn_aborted`, then `{abortReason: "interrupted"}`',
    codex: 'the turn of the thread is interrupted',
    mini: 'the turn and its processes are stopped',
    fixed: 'an idle conversation is answered at once; the real one never answers',
  },
  {
    method: 'listConversations',
    kind: 'request',
    dialects: BOTH,
    result: '`{items: [{conversationId, path, preview, timestamp?}], nextCursor?}`, newest first',
    codex: 'the rollouts of `CODEX_HOME`',
    mini: 'the files under the data folder',
  },
  {
    method: 'resumeConversation',
    kind: 'request',
    dialects: BOTH,
    result: '`sessionConfigured` (0.42: `codex/event`), then `{conversationId, model, initialMessages}`',
    codex: 'the thread of that rollout',
    mini: 'the conversation of that file',
    fixed:
      'the real one takes what `overrides` leaves out from the configuration of today; here approvals and sandbox stay as strict as they were. The declared `{conversationId}` is read as well',
  },
  {
    method: 'archiveConversation',
    kind: 'request',
    dialects: BOTH,
    result: '`codex/event/shutdown_complete` to listeners, then `{}`',
    codex: 'the rollout is moved to `archived_sessions`',
    mini: 'the file is moved to `archived_conversations`',
    fixed: 'other requests are not kept waiting; the declared `{conversationId}` alone is read as well',
  },
  {
    method: 'getUserSavedConfig',
    kind: 'request',
    dialects: BOTH,
    result: '`{config}`',
    codex: '`config.toml` of `CODEX_HOME`',
    mini: '`config.toml` of the data folder',
  },
  {
    method: 'setDefaultModel',
    kind: 'request',
    dialects: BOTH,
    result: '`{}`; what is left out is taken out of the file',
    codex: 'written to `config.toml` of `CODEX_HOME`',
    mini: 'written to `config.toml` of the data folder',
  },
  {
    method: 'getUserAgent',
    kind: 'request',
    dialects: BOTH,
    result: '`{userAgent}` with the version of the dialect, then ours',
    codex: 'the same on both',
    mini: 'the same on both',
  },
  {
    method: 'userInfo',
    kind: 'request',
    dialects: BOTH,
    result: '`{allegedUserEmail}`, null when not known',
    codex: 'of the account that Codex is signed in with',
    mini: 'always null',
  },
  {
    method: 'loginApiKey',
    kind: 'request',
    dialects: BOTH,
    result: '`{}`, then `authStatusChange`',
    codex: 'stored by Codex in `auth.json`, mode 600',
    mini: 'stored in `auth.json` of the data folder, mode 600',
    fixed: 'an empty key is refused',
  },
  {
    method: 'loginChatGpt',
    kind: 'request',
    dialects: BOTH,
    result: '`{loginId, authUrl}`, later `loginChatGptComplete`',
    codex: 'started by the Codex behind it',
    mini: '-32600: there is no such sign-in without a Codex',
  },
  {
    method: 'cancelLoginChatGpt',
    kind: 'request',
    dialects: BOTH,
    result: '`{}`, then `loginChatGptComplete` with `success: false`',
    codex: 'cancelled by the Codex behind it',
    mini: '-32600: `login id not found`',
  },
  {
    method: 'logoutChatGpt',
    kind: 'request',
    dialects: BOTH,
    result: '`{}`, then `authStatusChange`',
    codex: 'signed out of the Codex behind it, whatever the sign-in was',
    mini: 'the stored key is removed',
  },
  {
    method: 'getAuthStatus',
    kind: 'request',
    dialects: BOTH,
    result: '`{authMethod?, authToken?, requiresOpenaiAuth}`; the token only with `includeToken`',
    codex: 'of the Codex behind it',
    mini: 'whether a key is there; `requiresOpenaiAuth` says whether one is needed',
  },
  {
    method: 'gitDiffToRemote',
    kind: 'request',
    dialects: BOTH,
    result: '`{sha, diff}` with files that git does not know yet',
    codex: 'real git',
    mini: 'real git, in our sandbox',
  },
  {
    method: 'execOneOffCommand',
    kind: 'request',
    dialects: BOTH,
    result: '`{exitCode, stdout, stderr}`',
    codex: "in Codex's sandbox, by the policy",
    mini: 'in our sandbox, by the policy',
    fixed: '`sandboxPolicy` as text is read',
  },
  {
    method: 'fuzzyFileSearch',
    kind: 'request',
    dialects: NEWER,
    result: '`{files: [{root, path, file_name, score, indices?}]}`; a new search with the same token ends the old one',
    codex: 'searched by Codex',
    mini: 'searched by Parley',
    fixed: 'no roots: no files; the real one stops serving',
  },
  {
    method: 'tools/list, tools/call, ping',
    kind: 'request',
    dialects: OLDER,
    result: 'as in `parley mcp-server`',
    codex: 'the same on both',
    mini: 'the same on both',
  },
  {
    method: 'execCommandApproval',
    kind: 'question',
    dialects: BOTH,
    result: 'the client answers `{decision}`: `approved`, `approved_for_session`, `denied`, `abort`',
    codex: "Codex's own question; the call of an MCP tool is asked about as a command",
    mini: 'before a command, by the approval policy; a tool as a command',
    fixed: 'the declared `allow` and `deny` are read; an error denies instead of hanging the turn',
  },
  {
    method: 'applyPatchApproval',
    kind: 'question',
    dialects: BOTH,
    result: 'the same, with `fileChanges` by path',
    codex: "Codex's own question, with its changes",
    mini: 'before a patch, by the approval policy',
    fixed: 'as above',
  },
  {
    method: 'codex/event/<type>',
    kind: 'notification',
    dialects: BOTH,
    result: '`{id, msg, conversationId}`',
    codex: "Codex's events in the words of 0.44",
    mini: "our engine's events in the words of 0.44",
  },
  {
    method: 'sessionConfigured',
    kind: 'notification',
    dialects: NEWER,
    result: '`{sessionId, model, reasoningEffort?, historyLogId, historyEntryCount, initialMessages, rolloutPath}`',
    codex: 'before the answer to `resumeConversation`',
    mini: 'before the answer to `resumeConversation`',
  },
  {
    method: 'authStatusChange',
    kind: 'notification',
    dialects: BOTH,
    result: '`{authMethod?}`',
    codex: 'after signing in and out',
    mini: 'after signing in and out',
  },
  {
    method: 'loginChatGptComplete',
    kind: 'notification',
    dialects: BOTH,
    result: '`{loginId, success, error?}`',
    codex: 'when a sign-in has ended, also by being cancelled or replaced',
    mini: 'never',
  },
]

/** The table as Markdown. */
export function renderMethodTable(rows: readonly MethodRow[] = METHOD_TABLE): string {
  const head = ['method', 'dialects', 'result', 'on a Codex', 'on `mini`', 'fixed']
  const lines = rows.map(({ method, dialects, result, codex, mini, fixed }) =>
    [`\`${method}\``, dialects.join(', '), result, codex, mini, fixed ?? ''].map(cell),
  )
  return [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |\n`).join('')
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
