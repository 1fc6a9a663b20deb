import { LazyProcesses } from '@parley/executor'
import type { Backend } from '@parley/codex-server'
import { messageOf } from '@parley/protocol'
import type { Invocation } from '../command-line/command.ts'
import { settingsIn } from '../trust/settings-in.ts'
import type { ServerPlan } from './server-plan.ts'

/** One Codex, the mounted servers and the commands of conversations. */
const PROCESSES_MAX = 256
const STOP_MS = 300

/** What stands behind a server, opened by the first who needs it. */
export interface ServerBackend {
  readonly backend: () => Promise<Backend>
  /** Refuses a command line that the engine cannot follow. Throws `CommandError`. */
  check(): Promise<void>
  /** Ends all that was started. */
  close(): Promise<void>
}

/** Nothing of an engine is loaded here: a client waits for its first answer meanwhile. */
export function openServerBackend(invocation: Invocation, { choice, overrides, log }: ServerPlan): ServerBackend {
  const processes = new LazyProcesses(PROCESSES_MAX)
  const closers: (() => Promise<void>)[] = []
  const open = async (): Promise<Backend> => {
    if (choice.engine === 'codex') {
      const { openCodex } = await import('./open-codex.ts')
      return openCodex({ path: choice.path, overrides, io: invocation.io, log, processes })
    }
    const { openOwn } = await import('./open-own.ts')
    const own = openOwn({ invocation, overrides, log, processes })
    closers.push(() => own.close())
    return own.backend
  }
  // Settings take longer to load than a client should wait; who has none lying here need not be told that they do not count.
  if (choice.engine === 'mini' && settingsIn(invocation.io.cwd).length > 0)
    void import('./own-settings.ts').then(({ ownSettings }) => ownSettings(invocation, log)).catch(() => undefined)
  let opening: Promise<Backend> | undefined
  return {
    check: async () => {
      if (choice.engine !== 'codex' || overrides.length === 0) return
      const { checkOverrides } = await import('./open-codex.ts')
      await checkOverrides({ path: choice.path, overrides, io: invocation.io, processes }).catch(async (error: unknown) => {
        await processes.close(STOP_MS)
        throw error
      })
    },
    backend: () => {
      if (opening === undefined) {
        const attempt = open()
        opening = attempt
        attempt.catch((error: unknown) => {
          opening = undefined
          log('error', 'parley_codex', messageOf(error))
        })
      }
      return opening
    },
    close: async () => {
      const backend = await opening?.catch(() => undefined)
      await backend?.close()
      await Promise.all(closers.map((close) => close()))
      await processes.close(STOP_MS)
    },
  }
}
