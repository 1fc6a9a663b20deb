import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { isShown, problemOfReadable } from '@parley/sandbox'
import { CommandError } from '../command-line/command-error.ts'
import { isProgram } from '../command-line/is-program.ts'

type Env = Readonly<Record<string, string | undefined>>

/** What programs in the sandbox may use beside the system. */
export interface Toolchains {
  readonly readable: readonly string[]
  /** PATH, and where toolchains say they are. */
  readonly environment: Readonly<Record<string, string>>
}

const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']
/** Variables by which programs find the rest of their toolchain; passed on where they name what is shown. */
const HOMES = [
  'CARGO_HOME',
  'GOROOT',
  'JAVA_HOME',
  'NVM_DIR',
  'PYENV_ROOT',
  'RBENV_ROOT',
  'RUSTUP_HOME',
  'SDKMAN_DIR',
  'VIRTUAL_ENV',
]

/** The folders of `[sandbox] read`, and the Node that runs us. Throws `CommandError` for what must not be shown. */
export function toolchainsOf(read: readonly string[], env: Env, hidden: readonly string[]): Toolchains {
  const home = env['HOME'] || homedir()
  const folders = read.map((path) => (path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path))
  const problem = problemOfReadable(folders, hidden)
  if (problem !== undefined)
    throw new CommandError('config_invalid', `sandbox.read: ${problem}`, { hint: 'name folders of toolchains, such as /opt/go' })
  const node = realpathSync(process.execPath)
  const readable = [...new Set([...folders, node])]
  const named = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder) && isShown(folder, folders))
  const homes = HOMES.flatMap((name) => {
    const value = env[name]
    return value !== undefined && isAbsolute(value) && isShown(value, folders) ? [[name, value] as const] : []
  })
  const path = [...new Set([...named, ...SYSTEM_PATH, dirname(node)])]
  return { readable, environment: { ...Object.fromEntries(homes), PATH: path.join(delimiter) } }
}

/** Of a program that the sandbox does not show, where it is and which setting shows it; undefined: it is nowhere, or shown. */
export function unseenProgram(name: string, env: Env, readable: readonly string[]): string | undefined {
  if (name.includes('/') || name === '') return undefined
  const found = (env['PATH'] ?? '').split(delimiter).find((folder) => isAbsolute(folder) && isProgram(join(folder, name)))
  if (found === undefined || isShown(join(found, name), readable)) return undefined
  const folder = basename(found) === 'bin' ? dirname(found) : found
  return `${join(found, name)} is not shown in the sandbox; [sandbox] read = [${JSON.stringify(folder)}] in your settings shows it`
}
