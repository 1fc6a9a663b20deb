import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Toolchains, knownHome, problemOfReadable, toolchainsIn } from '@parley/sandbox'
import { CommandError } from '@parley/command-line'

/** The folders of `[sandbox] read`, and the Node that runs us. Throws `CommandError` for what must not be shown. */
export function toolchainsOf(
  read: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  hidden: readonly string[],
): Toolchains {
  const home = env['HOME'] || knownHome()
  const folders = read.map((path) => (path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path))
  const problem = problemOfReadable(folders, hidden)
  if (problem !== undefined)
    throw new CommandError('config_invalid', `sandbox.read: ${problem}`, { hint: 'name folders of toolchains, such as /opt/go' })
  return toolchainsIn(folders, realpathSync(process.execPath), env)
}
