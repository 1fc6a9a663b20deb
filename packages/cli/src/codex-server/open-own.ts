import { join } from 'node:path'
import { signedInMounts } from '@parley/agent'
import type { LazyProcesses } from '@parley/executor'
import { openModelClient } from '@parley/mini'
import { type Backend, openMiniBackend } from '@parley/codex-server'
import type { JsonObject } from '@parley/protocol'
import { openHttpFetcher } from '@parley/fetch'
import { lockFile } from '@parley/store'
import type { Invocation } from '@parley/command-line'
import { cacheDirOf } from '../data/cache-dir.ts'
import { dataDirAt } from '../data/data-dir.ts'
import { ownPlaces } from '../config/own-places.ts'
import { openMounts } from '../engine/connect-mount.ts'
import { toolchainsOf } from '../installed/toolchains.ts'
import { engineSettings } from '../trust/folder-settings.ts'
import { ownVersion } from '../version.ts'
import { openBoxedGit } from './boxed-git.ts'
import { openCommands } from './folder-commands.ts'
import { lazySandbox } from './lazy-sandbox.ts'
import { ownSettings } from './own-settings.ts'
import { readOverrides } from '@parley/codex/config'
import type { ServerLog } from '@parley/codex-server/start'

/** Where a key without a URL belongs. */
const OPENAI_URL = 'https://api.openai.com/v1'
/** As the oldest Codex that is served had it. */
const DEFAULT_MODEL = 'gpt-5'
const CONNECT_MS = 10_000
const CONNECTIONS = 256

export interface OwnPlan {
  readonly invocation: Invocation
  readonly overrides: readonly string[]
  readonly log: ServerLog
  readonly processes: LazyProcesses
}

/** Our own engine behind a server: models by `PARLEY_MODEL_*`, files in the data folder. */
export function openOwn({ invocation, overrides, log, processes }: OwnPlan): {
  readonly backend: Backend
  close(): Promise<void>
} {
  const { io } = invocation
  const read = ownSettings(invocation, log)
  const { settings } = read
  const data = dataDirAt(io.cwd, settings.dataDir)
  const config: JsonObject = readOverrides(overrides)
  const baseUrl = (settings.modelBaseUrl ?? OPENAI_URL).replace(/\/+$/, '')
  const http = openHttpFetcher({ connectMs: CONNECT_MS, connections: CONNECTIONS })
  const warn = (message: string): void => log('warn', 'parley_codex', message.trimEnd())
  const mounts = openMounts({
    complain: warn,
    clientName: 'parley',
    environmentsFile: join(data.path, 'environments.toml'),
  })
  const { now, random } = io
  const cacheFolder = cacheDirOf(io, settings.dataDir)
  const own = ownPlaces(io, read, { data: data.path, cache: cacheFolder })
  const outOfReach = [...own.folders, ...own.files]
  const sandbox = lazySandbox({ cacheFolder: join(cacheFolder, 'sandbox'), runFolder: join(data.path, 'boxes'), warn })
  const toolchains = toolchainsOf(settings.sandboxRead, io.env, outOfReach)
  log(
    'info',
    'parley_codex',
    `models at ${baseUrl} (${settings.modelWire}); conversations in ${join(data.path, 'conversations')}`,
  )
  const backend = openMiniBackend({
    dataFolder: data.path,
    folder: io.cwd,
    version: ownVersion(),
    modelFor: (apiKey) => openModelClient({ endpoint: { wire: settings.modelWire, baseUrl, apiKey }, http, now, random }),
    defaultModel: settings.models[0] ?? DEFAULT_MODEL,
    givenKey: settings.modelApiKey ?? null,
    needsKey: settings.modelBaseUrl === undefined,
    ...(settings.modelBaseUrl === undefined ? {} : { modelAddress: baseUrl }),
    folderConfig: () => {
      const { file, refused } = engineSettings(io)
      if (refused !== undefined) warn(`${refused}: it does not count`)
      return file
    },
    config,
    commandsFor: openCommands({
      processes,
      env: io.env,
      sandbox,
      own,
      toolchains,
      warn,
    }),
    outOfReach,
    connectMount: signedInMounts(mounts.connect, {
      tokens: async () => (await import('../mcp-config/token-file.ts')).tokenShelf(join(data.path, 'mcp-tokens.json')),
      refresh: async (tokens, url) => (await import('@parley/oauth')).refreshTokens(tokens, url, now),
      now,
      warn,
    }),
    variables: (name) => io.env[name],
    lock: lockFile,
    git: openBoxedGit({ sandbox, hidden: outOfReach, toolchains }),
    now,
    random,
  })
  const close = async (): Promise<void> => {
    await mounts.close()
    await http.close()
  }
  return { backend, close }
}
