import { messageOf } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'

/** The sandbox, opened with the first who needs it, or why there is none that holds what a model or a repository brings. */
export type LazySandbox = () => Promise<Sandbox | string>

export interface SandboxPlaces {
  readonly cacheFolder: string
  readonly runFolder: string
  readonly warn: (message: string) => void
}

export function lazySandbox(places: SandboxPlaces): LazySandbox {
  let opening: Promise<Sandbox | string> | undefined
  return () => (opening ??= openOnce(places))
}

async function openOnce({ cacheFolder, runFolder, warn }: SandboxPlaces): Promise<Sandbox | string> {
  const hint = 'allow danger-full-access to run commands without one; parley sandbox check says what is missing'
  try {
    const { openSandbox } = await import('@parley/sandbox')
    const sandbox = await openSandbox({ driver: 'auto', cacheFolder, runFolder })
    const { unheldWorkspace } = sandbox
    if (sandbox.report.driver !== 'none' && unheldWorkspace === undefined) return sandbox
    warn(`no sandbox holds on this machine, so commands are refused: ${unheldWorkspace ?? 'there is none'}; ${hint}`)
    if (unheldWorkspace !== undefined) return `no command is run: ${unheldWorkspace}; ${hint}`
  } catch (error) {
    warn(`the sandbox cannot be opened, so commands are refused: ${messageOf(error)}`)
  }
  return `there is no sandbox on this machine, so no command is run: ${hint}`
}
