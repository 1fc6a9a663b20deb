import { accessSync, constants } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { isShown } from './check-readable.ts'

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

/** These folders of toolchains and this program, with what of the environment leads to them. */
export function toolchainsIn(folders: readonly string[], program: string, env: Env): Toolchains {
  const readable = [...new Set([...folders, program])]
  const named = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder) && isShown(folder, folders))
  const homes = HOMES.flatMap((name) => {
    const value = env[name]
    return value !== undefined && isAbsolute(value) && isShown(value, folders) ? [[name, value] as const] : []
  })
  const path = [...new Set([...named, ...SYSTEM_PATH, dirname(program)])]
  return { readable, environment: { ...Object.fromEntries(homes), PATH: path.join(delimiter) } }
}

/** A program that the sandbox does not show, and the folder to show it by; undefined: it is nowhere, or shown. */
export function unseenProgram(
  name: string,
  env: Env,
  readable: readonly string[],
): { readonly path: string; readonly folder: string } | undefined {
  if (name.includes('/') || name === '') return undefined
  const found = (env['PATH'] ?? '').split(delimiter).find((folder) => isAbsolute(folder) && mayRun(join(folder, name)))
  if (found === undefined || isShown(join(found, name), readable)) return undefined
  return { path: join(found, name), folder: basename(found) === 'bin' ? dirname(found) : found }
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
