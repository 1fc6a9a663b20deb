import { delimiter } from 'node:path'
import { findCodex } from '@parley/codex/find'
import { CommandError, usageError } from '../command-line/command-error.ts'
import { LAUNCHER } from '../command-line/launcher.ts'

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

const GET_ONE = 'npm install -g @openai/codex gets one; --engine mini needs none'

/** Codex where one is found, unless something else is asked for; our own engine otherwise. Throws `CommandError`. */
export function chooseEngine({ engine, codex, env, cwd }: EngineAsk): EngineChoice {
  if (engine === 'mini') {
    if (codex !== undefined) throw usageError('--engine mini and --codex exclude each other')
    return { engine, why: '--engine mini' }
  }
  const places = { searchPath: (env['PATH'] ?? '').split(delimiter), cwd, own: LAUNCHER }
  const named = codex ?? (env['PARLEY_CODEX'] || undefined)
  const by = codex === undefined ? 'PARLEY_CODEX' : '--codex'
  if (named !== undefined) {
    const path = findCodex(named, places)
    if (path === undefined) throw new CommandError('codex_not_found', `${by}: ${named} is no program`, { hint: GET_ONE })
    return { engine: 'codex', path, why: `${by} names ${path}` }
  }
  const path = findCodex('codex', places)
  if (path !== undefined) return { engine: 'codex', path, why: `${path} is on PATH` }
  if (engine === 'codex') throw new CommandError('codex_not_found', 'there is no codex on PATH', { hint: GET_ONE })
  return { engine: 'mini', why: 'there is no codex on PATH' }
}
