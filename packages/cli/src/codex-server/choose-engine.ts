import { delimiter } from 'node:path'
import { type EngineChoice, chooseEngine as choose } from '@parley/codex-server/start'
import { usageError } from '@parley/command-line'
import { LAUNCHER } from '../wording/program.ts'

export interface AskedEngine {
  readonly engine: string | undefined
  /** Of `--codex`. */
  readonly codex: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** What the command line and the environment ask for. Throws `CommandError`, `EngineMissing`. */
export function chooseEngine({ engine, codex, env, cwd }: AskedEngine): EngineChoice {
  if (engine === 'mini' && codex !== undefined) throw usageError('--engine mini and --codex exclude each other')
  return choose({
    engine,
    named: namedOf(codex, env['PARLEY_CODEX'] || undefined),
    places: { searchPath: (env['PATH'] ?? '').split(delimiter), cwd, own: LAUNCHER },
  })
}

function namedOf(option: string | undefined, variable: string | undefined): Parameters<typeof choose>[0]['named'] {
  if (option !== undefined) return { codex: option, by: '--codex' }
  return variable === undefined ? undefined : { codex: variable, by: 'PARLEY_CODEX' }
}
