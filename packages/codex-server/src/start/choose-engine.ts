import { type CodexPlaces, findCodex } from '@parley/codex/find'

/** What stands behind a server, and why. */
export type EngineChoice =
  | { readonly engine: 'codex'; readonly path: string; readonly why: string }
  | { readonly engine: 'mini'; readonly why: string }

export interface EngineAsk {
  /** `codex` or `mini`, where somebody asked for one. */
  readonly engine: string | undefined
  /** A Codex that somebody named, and by which word. */
  readonly named: { readonly codex: string; readonly by: string } | undefined
  readonly places: CodexPlaces
}

/** The Codex that was asked for is not there. */
export class EngineMissing extends Error {
  readonly code = 'codex_not_found'
  readonly hint = 'npm install -g @openai/codex gets one; --engine mini needs none'
  constructor(message: string) {
    super(message)
    this.name = 'EngineMissing'
  }
}

/** Codex where one is found, unless something else is asked for; our own engine otherwise. Throws `EngineMissing`. */
export function chooseEngine({ engine, named, places }: EngineAsk): EngineChoice {
  if (engine === 'mini') return { engine, why: '--engine mini' }
  if (named !== undefined) {
    const path = findCodex(named.codex, places)
    if (path === undefined) throw new EngineMissing(`${named.by}: ${named.codex} is no program`)
    return { engine: 'codex', path, why: `${named.by} names ${path}` }
  }
  const path = findCodex('codex', places)
  if (path !== undefined) return { engine: 'codex', path, why: `${path} is on PATH` }
  if (engine === 'codex') throw new EngineMissing('there is no codex on PATH')
  return { engine: 'mini', why: 'there is no codex on PATH' }
}
