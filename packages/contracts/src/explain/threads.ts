import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { ContractName } from '../registry/registry-types.ts'

/** What stands in Codex 0.108 and later where a method of the old server stood. */
export interface Successor {
  /** Null: nothing is sent; the answer is made from what is known. */
  readonly method: string | null
  readonly note: string
  /** The params it is sent with, where they can be told from the request alone. */
  readonly params?: (params: JsonObject) => JsonObject
}

/** One for each method that was taken away; the few that stayed are not in it. */
export const SUCCESSORS: Readonly<Partial<Record<ContractName, Successor>>> = {
  newConversation: { method: 'thread/start', note: 'a conversation is a thread', params: threadStart },
  sendUserMessage: { method: 'turn/start', note: 'a message starts a turn of the thread', params: turnStart },
  sendUserTurn: { method: 'turn/start', note: 'a turn takes its overrides with it', params: turnStart },
  interruptConversation: {
    method: 'turn/interrupt',
    note: 'the turn under way is named by its own id as well, which is known from turn/start',
    params: ({ conversationId }) => ({ threadId: conversationId ?? null }),
  },
  listConversations: {
    method: 'thread/list',
    note: 'pages are cut in the same way',
    params: ({ pageSize, cursor }) => ({ ...given('limit', pageSize), ...given('cursor', cursor) }),
  },
  resumeConversation: {
    method: 'thread/resume',
    note: 'the thread is named by its id, which is in its rollout file',
    params: ({ path, conversationId, overrides }) => ({
      ...given('threadId', conversationId),
      ...given('path', path),
      ...(isJsonObject(overrides) ? threadStart(overrides) : {}),
    }),
  },
  archiveConversation: {
    method: 'thread/archive',
    note: 'the path of the rollout file is not needed',
    params: ({ conversationId }) => ({ threadId: conversationId ?? null }),
  },
  getUserSavedConfig: {
    method: 'config/read',
    note: 'the old fields are picked from the whole configuration',
    params: () => ({}),
  },
  setDefaultModel: {
    method: 'config/batchWrite',
    note: 'both keys are written at once; one that is left out is cleared',
    params: ({ model, reasoningEffort }) => ({
      edits: [edit('model', model), edit('model_reasoning_effort', reasoningEffort)],
    }),
  },
  getUserAgent: { method: null, note: 'the answer to initialize has it' },
  userInfo: { method: 'account/read', note: 'the address of the account is in its answer', params: () => ({}) },
  loginApiKey: {
    method: 'account/login/start',
    note: 'signing in has one method for all kinds',
    params: ({ apiKey }) => ({ type: 'apiKey', apiKey: apiKey ?? null }),
  },
  loginChatGpt: {
    method: 'account/login/start',
    note: 'signing in has one method for all kinds',
    params: () => ({ type: 'chatgpt' }),
  },
  cancelLoginChatGpt: {
    method: 'account/login/cancel',
    note: 'the id of the sign-in stays',
    params: ({ loginId }) => ({ loginId: loginId ?? null }),
  },
  logoutChatGpt: { method: 'account/logout', note: 'signing out has one method for all kinds' },
  execOneOffCommand: {
    method: 'command/exec',
    note: 'the policy is in camelCase',
    params: ({ sandboxPolicy, ...rest }) => ({ ...rest, ...policy(sandboxPolicy) }),
  },
  applyPatchApproval: { method: 'item/fileChange/requestApproval', note: 'the changes are in the item that came before it' },
  execCommandApproval: { method: 'item/commandExecution/requestApproval', note: 'the command is a line instead of a list' },
  loginChatGptComplete: { method: 'account/login/completed', note: 'the same fields' },
  authStatusChange: { method: 'account/updated', note: 'authMode stands where authMethod stood' },
  'codex-event': { method: null, note: 'events are made from the notifications item/…, turn/… and thread/…' },
  addConversationListener: { method: null, note: 'who started or resumed a thread hears of it; nothing is sent' },
  removeConversationListener: { method: 'thread/unsubscribe', note: 'a listener is the connection itself' },
  sessionConfigured: { method: null, note: 'it is made from the answer of thread/resume' },
}

const SANDBOX_TYPES: Readonly<Record<string, string>> = {
  'danger-full-access': 'dangerFullAccess',
  'read-only': 'readOnly',
  'workspace-write': 'workspaceWrite',
}

function threadStart(params: JsonObject): JsonObject {
  const { model, cwd, approvalPolicy, sandbox, config, baseInstructions } = params
  return {
    ...given('model', model),
    ...given('cwd', cwd),
    ...given('approvalPolicy', approval(approvalPolicy)),
    ...given('sandbox', sandbox),
    ...(isJsonObject(config) ? { config } : {}),
    ...given('baseInstructions', baseInstructions),
  }
}

function turnStart(params: JsonObject): JsonObject {
  const { conversationId, items, cwd, approvalPolicy, sandboxPolicy, model, effort, summary } = params
  return {
    threadId: conversationId ?? null,
    input: Array.isArray(items) ? items.map(inputOf) : [],
    ...given('cwd', cwd),
    ...given('approvalPolicy', approval(approvalPolicy)),
    ...policy(sandboxPolicy),
    ...given('model', model),
    ...given('effort', effort),
    ...given('summary', summary),
  }
}

function inputOf(item: JsonValue): JsonValue {
  if (!isJsonObject(item) || !isJsonObject(item['data'])) return item
  const { type, data } = item
  return { type: type ?? null, ...(type === 'image' ? { url: data['image_url'] ?? null } : data) }
}

/** The word for asking after a failure is gone; asking when the model wants to is the nearest that never does more unasked. */
const approval = (value: JsonValue | undefined): JsonValue | undefined => (value === 'on-failure' ? 'on-request' : value)

function policy(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) return {}
  const { mode, writable_roots: roots, network_access: network, exclude_tmpdir_env_var: env, exclude_slash_tmp: tmp } = value
  const type = typeof mode === 'string' ? (SANDBOX_TYPES[mode] ?? mode) : null
  if (mode !== 'workspace-write') return { sandboxPolicy: { type, ...(mode === 'read-only' ? { networkAccess: false } : {}) } }
  const fields = { networkAccess: network ?? false, excludeTmpdirEnvVar: env ?? false, excludeSlashTmp: tmp ?? false }
  return { sandboxPolicy: { type, writableRoots: roots ?? [], ...fields } }
}

const edit = (keyPath: string, value: JsonValue | undefined): JsonObject => ({
  keyPath,
  value: value ?? null,
  mergeStrategy: 'replace',
})

const given = (name: string, value: JsonValue | undefined): JsonObject =>
  value === undefined || value === null ? {} : { [name]: value }
