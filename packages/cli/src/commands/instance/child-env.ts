import { usageError } from '@parley/command-line'
import { coreEnv } from '../../process/program-env.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The environment of a child: the usual, and what `--env A,B=value` names. */
export function childEnv(env: Env, named: string | undefined): Record<string, string> {
  return { ...coreEnv(env), ...namedEnv(env, named) }
}

/** What `--env A,B=value` names, and nothing else: for a child of another machine, whose usual variables are its own. */
export function namedEnv(env: Env, named: string | undefined): Record<string, string> {
  const result: Record<string, string> = {}
  for (const item of named?.split(',') ?? []) {
    const at = item.indexOf('=')
    const name = at < 0 ? item : item.slice(0, at)
    const value = at < 0 ? env[name] : item.slice(at + 1)
    if (name === '') throw usageError('--env must be names, separated by commas, as in A,B=value')
    if (value === undefined)
      throw usageError(`--env names ${name}, which is not set`, `set it, or give its value: --env ${name}=…`)
    result[name] = value
  }
  return result
}
