import { folded, matchesGlob } from './name-glob.ts'
import type { EnvPolicy } from './params.ts'

export type Environment = Readonly<Record<string, string>>

/** What `core` means to Codex. */
const CORE = new Set(['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TEMP', 'TMP', 'TMPDIR', 'USER'])
/** Names that look like secrets. */
const DEFAULT_EXCLUDES = ['*KEY*', '*SECRET*', '*TOKEN*']

/**
 * The environment of a process: what the policy takes over from the executor's own, then `env`. Without a policy nothing is taken
 * over. The order is Codex's: inherit, exclude, set, and then only what is included.
 */
export function environmentOf(base: Environment, env: Environment, policy: EnvPolicy | null | undefined): Environment {
  if (policy === null || policy === undefined) return env
  const isExcluded = anyOf([...(policy.ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...policy.exclude])
  const inherited = Object.entries(base).filter(
    ([name]) => policy.inherit === 'all' || (policy.inherit === 'core' && CORE.has(name)),
  )
  const left = inherited.filter(([name]) => !isExcluded(name))
  const all = Object.entries({ ...Object.fromEntries(left), ...policy.set })
  const isIncluded = anyOf(policy.includeOnly)
  const kept = policy.includeOnly.length === 0 ? all : all.filter(([name]) => isIncluded(name))
  return { ...Object.fromEntries(kept), ...env }
}

function anyOf(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map(folded)
  return (name) => {
    const asCompared = folded(name)
    return patterns.some((pattern) => matchesGlob(pattern, asCompared))
  }
}
