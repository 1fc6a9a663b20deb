import { isJsonObject } from '@parley/protocol'
import * as z from 'zod'
import { type Bridge, sandboxParams, sandboxTag } from '@parley/codex'
import type { OneOffCommand } from '../backend.ts'
import { OUTPUT_BYTES, stopped } from '../workspace/run-one-off.ts'
import { searchFiles } from '../workspace/search-files.ts'
import { asked } from './asked.ts'
import type { CodexServices } from './open-codex-backend.ts'
import { EXEC_MS_MAX, Ended, FoundFiles, Nothing, authStatus, codexDiff, foundFiles } from './read-answers.ts'
import { WaitingLogins, unknownLogin } from './waiting-logins.ts'

const Listed = z.object({
  items: z.array(
    z.looseObject({ conversationId: z.string(), path: z.string(), preview: z.string(), timestamp: z.string().nullish() }),
  ),
  nextCursor: z.string().nullish(),
})
const Saved = z.object({ config: z.looseObject({}) })
const UserInfo = z.object({ allegedUserEmail: z.string().nullish() })

/** The services of 0.42 to 0.107: they are the methods that clients of old call, so all goes through as it is. */
export function oldServices(bridge: Bridge): CodexServices {
  const logins = new WaitingLogins(bridge, 'loginChatGptComplete')
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
      status: (ask) => authStatus(bridge, ask),
      email: async () => (await asked(bridge, UserInfo, ['userInfo'])).allegedUserEmail ?? null,
      loginApiKey: async (apiKey) => void (await asked(bridge, Nothing, ['loginApiKey', { apiKey }])),
      loginChatGpt: () => logins.begin('loginChatGpt'),
      cancelLogin: async (loginId) => {
        // An id that is none of its own is not answered by every version.
        if (!logins.has(loginId)) throw unknownLogin(loginId)
        await asked(bridge, Nothing, ['cancelLoginChatGpt', { loginId }])
      },
      logout: async () => void (await asked(bridge, Nothing, ['logoutChatGpt'])),
    },
    workspace: {
      diffToRemote: (folder) => codexDiff(bridge, folder),
      exec: (command, signal) => exec(bridge, command, signal),
      search: async ({ query, roots }, signal) => {
        // 0.42 has no search, and answers nothing at all to what it does not know.
        if (bridge.dialect === 'mcp') return searchFiles(query, roots, signal)
        return foundFiles(await asked(bridge, FoundFiles, ['fuzzyFileSearch', { query, roots: [...roots] }]))
      },
    },
    close: () => logins.close(),
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
