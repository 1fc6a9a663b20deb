import { messageOf } from '@parley/protocol/wire'
import type { LazyProcesses } from '@parley/executor'
import type { Backend } from '@parley/codex-server'
import { LazyBackend } from '@parley/codex-server/start'
import type { Invocation } from '@parley/command-line'
import { settingsIn } from '../trust/settings-in.ts'
import type { ServerPlan } from './server-plan.ts'

/** One Codex, the mounted servers and the commands of conversations. */
const PROCESSES_MAX = 256
const STOP_MS = 300

/** What stands behind a server, opened by the first who needs it. */
export interface ServerBackend {
  readonly backend: LazyBackend
  /** Refuses a command line that the engine cannot follow. Throws `CommandError`. */
  check(): Promise<void>
  /** Ends all that was started. */
  close(): Promise<void>
}

/** Nothing of an engine is loaded here: a client waits for its first answer meanwhile. */
export function openServerBackend(invocation: Invocation, { choice, overrides, log }: ServerPlan): ServerBackend {
  let loading: Promise<LazyProcesses> | undefined
  const processes = (): Promise<LazyProcesses> =>
    (loading ??= import('@parley/executor').then((executor) => new executor.LazyProcesses(PROCESSES_MAX)))
  const endProcesses = async (): Promise<void> => (await loading)?.close(STOP_MS)
  const closers: (() => Promise<void>)[] = []
  const open = async (): Promise<Backend> => {
    if (choice.engine === 'codex') {
      const { openCodex } = await import('./open-codex.ts')
      return openCodex({ path: choice.path, overrides, io: invocation.io, log, processes: await processes() })
    }
    const { openOwn } = await import('./open-own.ts')
    const own = openOwn({ invocation, overrides, log, processes: await processes() })
    closers.push(() => own.close())
    return own.backend
  }
  // Settings take longer to load than a client should wait; who has none lying here need not be told that they do not count.
  if (choice.engine === 'mini' && settingsIn(invocation.io.cwd).length > 0)
    void import('./own-settings.ts').then(({ ownSettings }) => ownSettings(invocation, log)).catch(() => undefined)
  const backend = new LazyBackend(() =>
    open().catch((error: unknown) => {
      log('error', 'parley_codex', messageOf(error))
      throw error
    }),
  )
  return {
    backend,
    check: async () => {
      if (choice.engine !== 'codex' || overrides.length === 0) return
      const { checkOverrides } = await import('./open-codex.ts')
      const asked = { path: choice.path, overrides, io: invocation.io, processes: await processes() }
      await checkOverrides(asked).catch(async (error: unknown) => {
        await endProcesses()
        throw error
      })
    },
    close: async () => {
      await backend.close()
      await Promise.all(closers.map((close) => close()))
      await endProcesses()
    },
  }
}
