import { isJsonObject } from '@parley/protocol'
import * as z from 'zod'
import { type Bridge, sandboxParams, sandboxTag } from '@parley/codex'
import { BackendError } from '@parley/codex/port'
import type { OneOffCommand } from '../backend.ts'
import { OUTPUT_BYTES, stopped } from '../workspace/run-one-off.ts'
import { searchFiles } from '../workspace/search-files.ts'
import { asked } from './asked.ts'
import type { CodexServices } from './open-codex-backend.ts'
import { FoundFiles, authStatus, foundFiles } from './read-answers.ts'
import { WaitingLogins } from './waiting-logins.ts'

const Nothing = z.looseObject({})
const Listed = z.object({
  items: z.array(
    z.looseObject({ conversationId: z.string(), path: z.string(), preview: z.string(), timestamp: z.string().nullish() }),
  ),
  nextCursor: z.string().nullish(),
})
const Saved = z.object({ config: z.looseObject({}) })
const AuthAnswer = z.object({
  authMethod: z.string().nullish(),
  authToken: z.string().nullish(),
  requiresOpenaiAuth: z.boolean().nullish(),
})
const UserInfo = z.object({ allegedUserEmail: z.string().nullish() })
const LoginAnswer = z.object({ loginId: z.string(), authUrl: z.string() })
const Diff = z.object({ sha: z.string(), diff: z.string() })
const Ended = z.object({ exitCode: z.number(), stdout: z.string(), stderr: z.string() })

const EXEC_MS_MAX = 110_000

/** The services of 0.42 to 0.107: they are the methods that clients of old call, so all goes through as it is. */
export function oldServices(bridge: Bridge): CodexServices {
  const logins = new WaitingLogins()
  const stop = bridge.onNotification((method, params) => {
    const { loginId, success, error } = params
    if (method !== 'loginChatGptComplete' || typeof loginId !== 'string') return
    logins.ended(
      loginId,
      success === true ? { success } : { success: false, error: typeof error === 'string' ? error : 'Login failed' },
    )
  })
  return {
    conversations: {
      list: async ({ pageSize, cursor }) => {
        const params = { pageSize, ...(cursor === undefined ? {} : { cursor }) }
        const { items, nextCursor } = await asked(bridge, Listed, ['listConversations', params])
        const shown = items.map(({ conversationId, path, preview, timestamp }) => ({
          conversationId,
          path,
          preview,
          timestamp: timestamp ?? null,
        }))
        return { items: shown, nextCursor: nextCursor ?? null }
      },
      archive: async ({ id, path }) =>
        void (await asked(bridge, Nothing, ['archiveConversation', { conversationId: id, rolloutPath: path }])),
    },
    settings: {
      saved: async () => {
        const { config } = await asked(bridge, Saved, ['getUserSavedConfig'])
        return isJsonObject(config) ? config : {}
      },
      setDefaultModel: async (model, effort) => {
        const params = { ...(model === null ? {} : { model }), ...(effort === null ? {} : { reasoningEffort: effort }) }
        await asked(bridge, Nothing, ['setDefaultModel', params])
      },
    },
    account: {
      status: async (ask) => authStatus(await asked(bridge, AuthAnswer, ['getAuthStatus', { ...ask }])),
      email: async () => (await asked(bridge, UserInfo, ['userInfo'])).allegedUserEmail ?? null,
      loginApiKey: async (apiKey) => void (await asked(bridge, Nothing, ['loginApiKey', { apiKey }])),
      loginChatGpt: async () => {
        const { loginId, authUrl } = await asked(bridge, LoginAnswer, ['loginChatGpt'])
        return { loginId, authUrl, done: logins.wait(loginId) }
      },
      cancelLogin: async (loginId) => {
        // An id that is none of its own is not answered by every version.
        if (!logins.has(loginId))
          throw new BackendError('invalid_request', `login id not found: ${loginId}`, { data: { param: 'loginId' } })
        await asked(bridge, Nothing, ['cancelLoginChatGpt', { loginId }])
      },
      logout: async () => void (await asked(bridge, Nothing, ['logoutChatGpt'])),
    },
    workspace: {
      diffToRemote: (folder) => asked(bridge, Diff, ['gitDiffToRemote', { cwd: folder }]),
      exec: (command, signal) => exec(bridge, command, signal),
      search: async ({ query, roots }, signal) => {
        // 0.42 has no search, and answers nothing at all to what it does not know.
        if (bridge.dialect === 'mcp') return searchFiles(query, roots, signal)
        return foundFiles(await asked(bridge, FoundFiles, ['fuzzyFileSearch', { query, roots: [...roots] }]))
      },
    },
    close: () => {
      stop()
      logins.close()
    },
  }
}

/** These versions cannot end a command: it is not waited for any more, and ends with its time or with Codex. */
async function exec(bridge: Bridge, { argv, timeoutMs, folder, sandboxPolicy }: OneOffCommand, signal: AbortSignal | undefined) {
  if (signal?.aborted === true) throw stopped()
  const gone = Promise.withResolvers<never>()
  const leave = (): void => gone.reject(stopped())
  signal?.addEventListener('abort', leave, { once: true })
  const params = {
    command: [...argv],
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, EXEC_MS_MAX) }),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy: sandboxParams(sandboxPolicy, sandboxTag(bridge.version)) }),
  }
  try {
    const { exitCode, stdout, stderr } = await Promise.race([asked(bridge, Ended, ['execOneOffCommand', params]), gone.promise])
    return { exitCode, stdout: stdout.slice(0, OUTPUT_BYTES), stderr: stderr.slice(0, OUTPUT_BYTES) }
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}
