import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError, usageError } from '../command-line/command-error.ts'

/** What stands behind a server, and why. */
export type EngineChoice =
  | { readonly engine: 'codex'; readonly path: string; readonly why: string }
  | { readonly engine: 'mini'; readonly why: string }

export interface EngineAsk {
  readonly engine: string | undefined
  /** Of `--codex`. */
  readonly codex: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

const LAUNCHER = fileURLToPath(new URL('../../../../bin/parley.js', import.meta.url))
const GET_ONE = 'npm install -g @openai/codex gets one; --engine mini needs none'

/** Codex where one is found, unless something else is asked for; our own engine otherwise. Throws `CommandError`. */
export function chooseEngine({ engine, codex, env, cwd }: EngineAsk): EngineChoice {
  if (engine === 'mini') {
    if (codex !== undefined) throw usageError('--engine mini and --codex exclude each other')
    return { engine, why: '--engine mini' }
  }
  const named = codex ?? (env['PARLEY_CODEX'] || undefined)
  const by = codex === undefined ? 'PARLEY_CODEX' : '--codex'
  if (named !== undefined) {
    const path = find(named, env, cwd)
    if (path === undefined) throw new CommandError('codex_not_found', `${by}: ${named} is no program`, { hint: GET_ONE })
    return { engine: 'codex', path, why: `${by} names ${path}` }
  }
  const path = find('codex', env, cwd)
  if (path !== undefined) return { engine: 'codex', path, why: `${path} is on PATH` }
  if (engine === 'codex') throw new CommandError('codex_not_found', 'there is no codex on PATH', { hint: GET_ONE })
  return { engine: 'mini', why: 'there is no codex on PATH' }
}

function find(name: string, env: EngineAsk['env'], cwd: string): string | undefined {
  if (name.includes('/') || isAbsolute(name)) {
    const path = resolve(cwd, name)
    return isProgram(path) ? path : undefined
  }
  // What a relative place on PATH leads to lies in the folder that we are called in: it may be anybody's.
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram)
}

/** Ourselves under the name of codex would be a server that waits for itself. */
function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() && realpathSync(path) !== realpathSync(LAUNCHER)
  } catch {
    return false
  }
}
