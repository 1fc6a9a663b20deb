import { type JsonObject, isJsonObject } from '@parley/protocol'
import * as z from 'zod'
import { type Bridge, isLegacyProfile, newerSandbox } from '@parley/codex'
import { BackendError } from '@parley/codex/port'
import type { Account, ConversationShelf, OneOffCommand, SavedSettings, Workspace } from '../backend.ts'
import { savedShape } from '../mini/settings-file.ts'
import { OUTPUT_BYTES, stopped } from '../workspace/run-one-off.ts'
import { asked } from './asked.ts'
import type { CodexBackendOptions, CodexServices } from './open-codex-backend.ts'
import { readConfiguration } from './read-configuration.ts'
import { EXEC_MS_MAX, Ended, FoundFiles, Nothing, authStatus, checkRollout, codexDiff, foundFiles } from './read-answers.ts'
import { WaitingLogins, unknownLogin } from './waiting-logins.ts'

const Threads = z.object({
  data: z.array(
    z.looseObject({ id: z.string(), preview: z.string(), path: z.string().nullish(), createdAt: z.number().nullish() }),
  ),
  nextCursor: z.string().nullish(),
})
const Config = z.object({
  config: z.looseObject({}),
  layers: z.array(z.looseObject({ name: z.looseObject({ type: z.string() }), config: z.looseObject({}) })).nullish(),
})
const AccountAnswer = z.object({ account: z.looseObject({ email: z.string().nullish() }).nullish() })
const CancelAnswer = z.object({ status: z.string().optional() })

/** As long as a command may take that says nothing about it. */
const EXEC_MS = 10_000
/** What Codex answers for a command that took too long. */
const TIMED_OUT = 124

/** The services of 0.108 and later. */
export function newServices(bridge: Bridge, { now, codexHome }: Omit<CodexBackendOptions, 'bridge'>): CodexServices {
  const logins = new WaitingLogins(bridge, 'account/login/completed')
  return {
    conversations: shelfOf(bridge),
    settings: settingsOf(bridge, codexHome),
    account: accountOf(bridge, logins),
    workspace: workspaceOf(bridge, now),
    close: () => logins.close(),
  }
}

const shelfOf = (bridge: Bridge): ConversationShelf => ({
  list: async ({ pageSize, cursor }) => {
    // An empty list of providers means all of them: left out, it means the one that is set.
    const params = { limit: pageSize, modelProviders: [], ...(cursor === undefined ? {} : { cursor }) }
    const { data, nextCursor } = await asked(bridge, Threads, ['thread/list', params])
    const items = data.flatMap(({ id, preview, path, createdAt }) => {
      if (preview === '' || typeof path !== 'string') return []
      const timestamp = typeof createdAt === 'number' ? new Date(createdAt * 1_000).toISOString() : null
      return [{ conversationId: id, path, preview, timestamp }]
    })
    return { items, nextCursor: nextCursor ?? null }
  },
  archive: async ({ id, path }) => {
    checkRollout(id, path)
    await asked(bridge, Nothing, ['thread/archive', { threadId: id }]).catch((error: unknown) => {
      if (!(error instanceof BackendError) || !error.message.includes('no rollout found')) throw error
      throw new BackendError('invalid_request', `conversation not found: ${id}`, { cause: error })
    })
  },
})

const settingsOf = (bridge: Bridge, codexHome: string | undefined): SavedSettings => ({
  saved: async () => savedShape(readConfiguration(await userConfig(bridge, codexHome))),
  setDefaultModel: async (model, effort) => {
    const edit = (keyPath: string, value: string | null): JsonObject => ({ keyPath, value, mergeStrategy: 'replace' })
    await asked(bridge, Nothing, ['config/batchWrite', { edits: [edit('model', model), edit('model_reasoning_effort', effort)] }])
  },
})

/** What the user's file says, not what defaults and the command line made of it. */
async function userConfig(bridge: Bridge, codexHome: string | undefined): Promise<JsonObject> {
  try {
    const { config, layers } = await asked(bridge, Config, ['config/read', { includeLayers: true }])
    const own = layers?.find(({ name }) => name.type === 'user')?.config ?? config
    return isJsonObject(own) ? own : {}
  } catch (error) {
    // With a profile of old in it, Codex does not read the file. It is there all the same.
    if (codexHome === undefined || !isLegacyProfile(error)) throw error
    const { readUserConfig } = await import('@parley/codex/config')
    return readUserConfig(codexHome)
  }
}

const accountOf = (bridge: Bridge, logins: WaitingLogins): Account => ({
  status: (ask) => authStatus(bridge, ask),
  email: async () => (await asked(bridge, AccountAnswer, ['account/read', {}])).account?.email ?? null,
  loginApiKey: async (apiKey) => void (await asked(bridge, Nothing, ['account/login/start', { type: 'apiKey', apiKey }])),
  loginChatGpt: () => logins.begin('account/login/start', { type: 'chatgpt' }),
  cancelLogin: async (loginId) => {
    const { status } = await asked(bridge, CancelAnswer, ['account/login/cancel', { loginId }]).catch((error: unknown) => {
      throw error instanceof BackendError && error.message.includes('invalid login id') ? unknownLogin(loginId, error) : error
    })
    if (status === 'notFound') throw unknownLogin(loginId)
  },
  logout: async () => void (await asked(bridge, Nothing, ['account/logout'])),
})

const workspaceOf = (bridge: Bridge, now: () => number): Workspace => ({
  diffToRemote: (folder) => codexDiff(bridge, folder),
  exec: (command, signal) => exec(bridge, command, { now, signal }),
  search: async ({ query, roots }, signal) => {
    if (signal.aborted) return []
    const params = { query, roots: [...roots], cancellationToken: null }
    return foundFiles(await asked(bridge, FoundFiles, ['fuzzyFileSearch', params]))
  },
})

/** Numbers commands, so that one can be ended. */
let commands = 0

async function exec(
  bridge: Bridge,
  { argv, timeoutMs = EXEC_MS, folder, sandboxPolicy }: OneOffCommand,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal | undefined },
) {
  const isStopped = (): boolean => signal?.aborted === true
  if (isStopped()) throw stopped()
  const boundMs = Math.min(timeoutMs, EXEC_MS_MAX)
  commands += 1
  const processId = `parley-${commands}`
  const params = {
    command: [...argv],
    processId,
    timeoutMs: boundMs,
    outputBytesCap: OUTPUT_BYTES,
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy: newerSandbox(sandboxPolicy) }),
  }
  const startedAt = now()
  // A Codex that is gone has taken the command with it, and one that does not know the method ends it in its own time.
  const end = (): void => void bridge.ask('command/exec/terminate', { processId }).catch(() => undefined)
  signal?.addEventListener('abort', end, { once: true })
  try {
    const ended = await asked(bridge, Ended, ['command/exec', params])
    if (isStopped()) throw stopped()
    if (ended.exitCode === TIMED_OUT && now() - startedAt >= boundMs)
      throw new BackendError('failed', 'sandbox error: command timed out')
    return ended
  } catch (error) {
    if (!(error instanceof BackendError) || error.code !== 'failed') throw error
    const message = error.message.replace(/^(failed to spawn command|exec failed): /, '')
    throw new BackendError('failed', `exec failed: ${message}`, { cause: error })
  } finally {
    signal?.removeEventListener('abort', end)
  }
}
