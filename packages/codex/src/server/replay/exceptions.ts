import { isJsonObject } from '@parley/protocol'
import type { Exception } from './exception.ts'
import { isDeclaredShape, isSignInStep, withQuestions } from './excused-steps.ts'

const OLDER = ['0.42.0', '0.44.0']
const NEWER = ['0.153.4']

/** What the old servers got wrong, and ours does not. */
const FIXES: readonly Exception[] = [
  {
    name: 'everything-is-answered',
    reason:
      'Codex never answered what it did not know or could not read, aborted calls, and the interruption of an idle conversation',
    excuses: [{ answered: /^< answer to / }],
  },
  {
    name: 'errors-say-more',
    reason: 'Message and data of an error name the parameter at fault, what is wrong with it and the kind of failure',
    excuses: [{ field: /: error\.data$/ }, { longer: /: error\.message$/ }],
  },
  {
    name: 'declared-shapes-are-taken',
    reason: 'What the documents declare was refused; it now does its work, and would make another conversation of this one',
    scenarios: /^(conversation-(talk|keep)|workspace)$/,
    excuses: [{ notSent: isDeclaredShape }],
  },
  {
    name: 'declared-decisions-count',
    reason: '`allow`, and the `accept` of MCP, mean approved; Codex took both for a denial',
    scenarios: /-(allow|accept)$/,
    excuses: [{ added: /(exec_command_(begin|end)|patch_apply_(begin|end)|turn_diff|CommandExecution)$/ }],
  },
  {
    name: 'failures-are-results',
    reason:
      'A turn that failed is answered as MCP has it; before 0.100 it was answered with something that is no result of a tool',
    versions: OLDER,
    scenarios: /^tool-failure$/,
    excuses: [{ field: /: result\.(error|isError|content)$/ }],
  },
  {
    name: 'older-parameters-are-listed',
    reason: 'The list of tools still has the parameters of older clients, marked as deprecated',
    versions: NEWER,
    scenarios: /^tool-list$/,
    excuses: [{ field: /\.inputSchema\.properties\./ }, { value: /\.approval-policy\.description$/ }],
  },
  {
    name: 'no-raw-items',
    reason: 'They show what the model is told',
    versions: NEWER,
    excuses: [{ leftOut: / raw_response_item / }],
  },
  {
    name: 'message-deltas',
    reason: 'Told beside the newer events, as they were before 0.100',
    versions: NEWER,
    excuses: [{ added: / agent_message_delta$/ }],
  },
]

/** What is ours and not Codex's, whichever engine is behind. */
const OURS: readonly Exception[] = [
  {
    name: 'user-agent',
    reason: 'Ours names itself beside the Codex it stands for',
    excuses: [{ value: /\.(user_agent|userAgent)$/ }],
  },
  {
    name: 'pieces',
    reason: 'Where a text is cut into pieces is chance',
    excuses: [{ merged: /_delta$/ }],
  },
  {
    name: 'output-as-it-comes',
    reason: 'Codex does not tell the output of a command that ends at once; ours tells all of it',
    versions: NEWER,
    scenarios: /^tool-exec$/,
    excuses: [{ added: / exec_command_output_delta$/ }],
  },
  {
    name: 'cursor-where-a-page-follows',
    reason: 'Codex gives one with every page that has something on it, and the page behind it is empty',
    scenarios: /^(conversation-keep|client-session)$/,
    excuses: [{ field: /: result\.nextCursor$/ }],
  },
  {
    name: 'history-is-what-was-said',
    reason: 'Earlier messages are told without the token counts that stood between them',
    scenarios: /^(conversation-keep|client-resume)$/,
    excuses: [{ unlisted: (member) => isJsonObject(member) && member['type'] === 'token_count' }],
  },
  {
    name: 'command-tool',
    reason:
      'Each engine gives its model another tool for commands: argv or a line for a shell, with a process to come back to or not',
    excuses: [
      { value: /\.(codex_)?command\.\d$/ },
      { field: /\.(codex_)?command\.\d$/ },
      { field: /\.process_id$/ },
      { value: /\.(source|parsed_cmd\.0\.cmd)$/ },
      { value: /^< elicitation\/create: params\.message$/ },
    ],
  },
  {
    name: 'context-window',
    reason: 'What the engine knows of the model; 0.166 says it with the first token count',
    excuses: [{ value: /\.model_context_window$/ }, { field: / task_started: params\.msg\.model_context_window$/ }],
  },
  {
    name: 'diff-text',
    reason: 'The same change with other headers',
    scenarios: /patch|client-session/,
    excuses: [{ value: / turn_diff: params\.msg\.unified_diff$/ }],
  },
  {
    name: 'words-of-a-denial',
    reason: 'What the model is told of a patch that was denied',
    versions: NEWER,
    scenarios: /^tool-patch-denied$/,
    excuses: [{ value: /\.stderr$/ }],
  },
  {
    name: 'no-policy-amendments',
    reason: 'Rules of Codex for commands are not kept for it, so none are offered',
    versions: NEWER,
    scenarios: /^tool-exec-/,
    excuses: [{ field: /\.(proposed_execpolicy_amendment|available_decisions\.1)$/ }],
  },
  {
    name: 'words-for-a-missing-profile',
    reason: 'Each engine has its own',
    scenarios: /^tool-errors$/,
    excuses: [{ value: /^< answer to tools\/call: result\.content\.0\.text$/ }],
  },
  {
    name: 'provider',
    reason: 'Engines do not tell who serves the model, and the usual one is named',
    versions: NEWER,
    excuses: [{ value: /\.model_provider_id$/ }],
  },
  {
    name: 'usage-goes-on',
    reason: 'A conversation that is taken up again counts on from where it was',
    scenarios: /^client-resume$/,
    excuses: [{ value: /\.total_token_usage\.\w+$/ }],
  },
  {
    name: 'words-of-an-error',
    reason: 'The same code in our own words',
    scenarios: /^(handshake|tool-list|workspace|conversation-open)$/,
    excuses: [{ value: /: error\.message$/ }],
  },
]

/** What our own engine does otherwise. */
const MINI: readonly Exception[] = [
  {
    name: 'own-files',
    reason: 'Conversations are kept in files of our own',
    excuses: [{ value: /\.(rolloutPath|rollout_path|path)$/ }],
  },
  {
    name: 'no-model-metadata',
    reason: 'Nothing is looked up, so nothing is missed',
    versions: NEWER,
    excuses: [{ leftOut: / warning$/ }],
  },
  {
    name: 'asks-by-policy',
    reason: 'Its model cannot ask to leave the sandbox: a client that wants to be asked about commands says `untrusted`',
    scenarios: /^tool-exec-/,
    excuses: [
      { sent: withQuestions },
      { value: /^> tools\/call: params\.arguments\.approval-policy$/ },
      { value: / session_configured: params\.msg\.approval_policy$/ },
      { field: /\.reason$/ },
    ],
  },
  {
    name: 'says-why-it-asks',
    reason: 'A patch in a conversation that may only read is asked about with a reason',
    scenarios: /^tool-patch-/,
    excuses: [{ field: /\.(reason|codex_reason)$/ }],
  },
  {
    name: 'words-of-a-failure',
    reason: 'A model that refuses is told of in our own words, and before any token count, since it never began to answer',
    scenarios: /-failure$/,
    excuses: [
      { leftOut: / token_count$/ },
      { value: / error: params\.msg\.message$/ },
      { value: /: result\.(content\.0\.text|structuredContent\.content)$/ },
    ],
  },
  {
    name: 'no-chatgpt-sign-in',
    reason: 'There is none without a Codex: a clear error says so',
    scenarios: /^sign-in$/,
    excuses: [
      { notSent: isSignInStep },
      { leftOut: /^< loginChatGptComplete$/ },
      { field: /^< answer to loginChatGpt: (result|error)$/ },
    ],
  },
]

/** What a real Codex of today does otherwise than those that were recorded. */
const CODEX: readonly Exception[] = [
  {
    name: 'model-metadata',
    reason:
      'It does not know the model of the recordings, and says so: earlier or later in a turn, and to clients before 0.100 in their words',
    excuses: [{ moved: /^< codex\/event warning$/ }, { added: / background_event$/ }],
  },
  {
    name: 'usage-comes-later',
    reason: 'What an answer of the model cost is told when its commands have run',
    versions: NEWER,
    excuses: [{ moved: / raw_response_completed$/ }],
  },
  {
    name: 'one-stream',
    reason: 'Commands run on a terminal, which has one',
    scenarios: /^turn-exec$/,
    excuses: [{ value: / exec_command_(output_delta|end): params\.msg\.(stream|stdout|stderr)$/ }],
  },
  {
    name: 'no-active-profile',
    reason: 'Its file cannot name one any more, so the default model stands at the top of it',
    scenarios: /^settings$/,
    excuses: [
      { field: /: result\.config\.(profile|model|modelReasoningEffort|profiles\.fast\.\w+)$/ },
      { value: /: result\.config\.(model|modelReasoningEffort|profiles\.fast\.model)$/ },
    ],
  },
  {
    name: 'sign-in-address',
    reason: 'The address is of its own making',
    scenarios: /^sign-in$/,
    excuses: [{ value: /: result\.authUrl$/ }],
  },
  {
    name: 'search-score',
    reason: 'It weighs what it finds otherwise',
    scenarios: /^workspace$/,
    excuses: [{ value: /: result\.files\.\d+\.score$/ }],
  },
]

/** What a client sees otherwise than the recorded one saw it, on purpose. Everything else is the same. */
export const EXCEPTIONS: readonly Exception[] = [
  ...FIXES,
  ...OURS,
  ...MINI.map((one): Exception => ({ ...one, engine: 'mini' })),
  ...CODEX.map((one): Exception => ({ ...one, engine: 'codex' })),
]
