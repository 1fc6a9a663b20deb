import { usageError } from './command-error.ts'

/** Whether it can be the name of a variable. */
export const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** Variables as `KEY=VALUE`, sorted by their names. A value is not repeated in what is said of it: it may be a secret. */
export function envPairs(what: string, pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair): [string, string] => {
    const at = pair.indexOf('=')
    const key = pair.slice(0, Math.max(at, 0))
    if (at < 0 || !isVariable(key)) throw usageError(`${what} must be KEY=VALUE`, 'its KEY is letters, digits and _')
    return [key, pair.slice(at + 1)]
  })
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}
