import { openProcesses } from '@parley/executor'
import type { Io } from '@parley/command-line'
import { wholeEnv } from '../process/program-env.ts'

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  linux: ['xdg-open'],
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const STOP_MS = 500

/** Shows an address in the user's browser (`BROWSER`, else what the system has). The answer ends what was started for it. */
export function openBrowser(io: Io, url: string): () => Promise<void> {
  const named = io.env['BROWSER']
  const [command, ...args] = named === undefined || named === '' ? (OPENERS[process.platform] ?? []) : [named]
  if (command === undefined) return () => Promise.resolve()
  const opening = openProcesses()
  // No browser here: the address is on the screen as well.
  const started = opening
    .then((processes) => processes.start({ command, args: [...args, url], env: wholeEnv(io.env), cwd: io.cwd }))
    .catch(() => undefined)
  return async () => {
    await started
    await (await opening).close(STOP_MS)
  }
}
