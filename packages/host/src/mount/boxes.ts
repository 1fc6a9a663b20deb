import { boxedBackend, type ExecBackend } from '@parley/executor'
import { messageOf } from '@parley/protocol'
import type { StartLive, Toolchains } from '@parley/sandbox'
import type { HostSandbox, HostSandboxOptions } from './host-sandbox.ts'

/** Where a boxed program runs, and what it gets of the environment. */
export interface BoxedPlace {
  readonly place: ExecBackend
  readonly env: Readonly<Record<string, string>>
}

export interface BoxOptions extends HostSandboxOptions {
  /** What programs in boxes may use beside the system; throws what is wrong with the settings for it. */
  readonly toolchains: (hidden: readonly string[]) => Toolchains
  readonly env: Readonly<Record<string, string>>
}

const GIB = 1024 * 1024 * 1024
/** What one mounted program may take of its host. Its stacks are bounded by its memory: with more no thread would find room for one. */
const LIMITS = { memoryBytes: 2 * GIB, processes: 512 } as const
/** What a program in a box has of the environment, beside its PATH. */
const SHOWN = ['LANG', 'LC_ALL', 'TERM', 'TZ']

/** The boxes of this machine. Throws where it has none that holds: nothing runs unboxed instead. */
export function openBoxes(
  options: BoxOptions,
  sandbox: HostSandbox,
): (server: { readonly network: boolean }) => Promise<BoxedPlace> {
  const hidden = [options.dataFolder, options.cacheFolder]
  return async ({ network }) => {
    const start = await startIn(sandbox).catch((error: unknown) => {
      throw new Error(`no program can be boxed on this host: ${messageOf(error)}; parley sandbox check says more`, {
        cause: error,
      })
    })
    const { readable, environment } = options.toolchains(hidden)
    const shown = SHOWN.flatMap((name) => (options.env[name] === undefined ? [] : [[name, options.env[name]] as const]))
    return {
      place: boxedBackend({
        start,
        limits: LIMITS,
        profile: { readable, hidden, writable: true, unlinked: true, network: network ? 'host' : 'none' },
      }),
      env: { ...Object.fromEntries(shown), TMPDIR: '/tmp', ...environment },
    }
  }
}

async function startIn(sandbox: HostSandbox): Promise<StartLive> {
  const { start, report } = await sandbox()
  if (start === undefined) throw new Error(`the sandbox ${report.driver} has no network of its own for a program`)
  return start
}
