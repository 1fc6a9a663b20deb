import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openSandbox, type Sandbox } from '@parley/sandbox'

export interface HostSandboxOptions {
  /** Below it each agent has a folder of its own, and boxes have theirs. No program in a box sees the rest of it. */
  readonly dataFolder: string
  /** Where the sandbox keeps what it compiled. */
  readonly cacheFolder: string
}

/** The sandbox of this host, opened with the first who needs it. Throws where it has none that holds what a box is for. */
export type HostSandbox = () => Promise<Sandbox>

export function openHostSandbox(options: HostSandboxOptions): HostSandbox {
  let opening: Promise<Sandbox> | undefined
  return () => {
    opening ??= open(options).catch((error: unknown) => {
      // What is missing may be there the next time.
      opening = undefined
      throw error
    })
    return opening
  }
}

async function open({ dataFolder, cacheFolder }: HostSandboxOptions): Promise<Sandbox> {
  // What is to be hidden must be there: a program could make it otherwise.
  for (const folder of [dataFolder, cacheFolder]) await mkdir(folder, { recursive: true, mode: 0o700 })
  const sandbox = await openSandbox({
    driver: 'auto',
    cacheFolder: join(cacheFolder, 'sandbox'),
    runFolder: join(dataFolder, 'host', 'boxes'),
  })
  if (sandbox.report.driver === 'none') throw new Error('there is no sandbox on this machine')
  if (sandbox.unheldWorkspace !== undefined) throw new Error(sandbox.unheldWorkspace)
  return sandbox
}
