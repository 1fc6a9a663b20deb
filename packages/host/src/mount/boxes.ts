import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { boxedBackend, type ExecBackend } from '@parley/executor'
import { messageOf } from '@parley/protocol'
import { openSandbox, type StartLive, type Toolchains } from '@parley/sandbox'

/** Where a boxed program runs, and what it gets of the environment. */
export interface BoxedPlace {
  readonly place: ExecBackend
  readonly env: Readonly<Record<string, string>>
}

export interface BoxOptions {
  /** Below it each agent has a folder of its own, and boxes have theirs. No program in a box sees the rest of it. */
  readonly dataFolder: string
  /** Where the sandbox keeps what it compiled. */
  readonly cacheFolder: string
  /** What programs in boxes may use beside the system; throws what is wrong with the settings for it. */
  readonly toolchains: (hidden: readonly string[]) => Toolchains
  readonly env: Readonly<Record<string, string>>
}

const GIB = 1024 * 1024 * 1024
/** What one mounted program may take of its host. Its stacks are bounded by its memory: with more no thread would find room for one. */
const LIMITS = { memoryBytes: 2 * GIB, processes: 512 } as const
/** What a program in a box has of the environment, beside its PATH. */
const SHOWN = ['LANG', 'LC_ALL', 'TERM', 'TZ']

/** The boxes of this machine; their sandbox is opened with the first. Throws where it has none that holds: nothing runs unboxed instead. */
export function openBoxes(options: BoxOptions): (server: { readonly network: boolean }) => Promise<BoxedPlace> {
  let opening: Promise<StartLive> | undefined
  const hidden = [options.dataFolder, options.cacheFolder]
  return async ({ network }) => {
    opening ??= startIn(options)
    const start = await opening.catch((error: unknown) => {
      // What is missing may be there the next time.
      opening = undefined
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

async function startIn({ dataFolder, cacheFolder }: BoxOptions): Promise<StartLive> {
  // What is to be hidden must be there: a program could make it otherwise.
  for (const folder of [dataFolder, cacheFolder]) await mkdir(folder, { recursive: true, mode: 0o700 })
  const sandbox = await openSandbox({
    driver: 'auto',
    cacheFolder: join(cacheFolder, 'sandbox'),
    runFolder: join(dataFolder, 'host', 'boxes'),
  })
  if (sandbox.unheldWorkspace !== undefined) throw new Error(sandbox.unheldWorkspace)
  if (sandbox.start === undefined) throw new Error(`the sandbox ${sandbox.report.driver} has no network of its own for a program`)
  return sandbox.start
}
