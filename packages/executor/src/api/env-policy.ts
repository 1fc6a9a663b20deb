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
  const excludes = [...(policy.ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...policy.exclude].map(patternOf)
  const inherited = Object.entries(base).filter(
    ([name]) => policy.inherit === 'all' || (policy.inherit === 'core' && CORE.has(name)),
  )
  const left = inherited.filter(([name]) => !excludes.some((pattern) => pattern.test(name)))
  const all = Object.entries({ ...Object.fromEntries(left), ...policy.set })
  const includes = policy.includeOnly.map(patternOf)
  const kept = includes.length === 0 ? all : all.filter(([name]) => includes.some((pattern) => pattern.test(name)))
  return { ...Object.fromEntries(kept), ...env }
}

/** `*` is anything, `?` one character; case does not count. */
function patternOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'is')
}
