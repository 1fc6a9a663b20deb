import { isJsonObject } from '@parley/protocol'

/** A text that cannot be kept as it came: where it is, and what is wrong with it. */
export interface OddText {
  readonly field: string
  readonly fault: string
}

/**
 * What no database keeps: PostgreSQL refuses a NUL, and halves of surrogate pairs become one and the same character, so that two
 * names that differ would be one. `undefined`: the text can be kept.
 */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain a NUL character'
  return text.isWellFormed() ? undefined : 'is not well-formed Unicode: half of a surrogate pair is missing'
}

/** The first such text among arguments, names of their parts included. Deep nesting was refused before they were parsed. */
export function oddText(value: unknown, path: readonly string[] = []): OddText | undefined {
  if (typeof value === 'string') {
    const fault = textFault(value)
    return fault === undefined ? undefined : { field: path.join('.'), fault }
  }
  if (Array.isArray(value)) return firstOf(value.entries(), path)
  return isJsonObject(value) ? firstOf(Object.entries(value), path) : undefined
}

function firstOf(entries: Iterable<readonly [number | string, unknown]>, path: readonly string[]): OddText | undefined {
  for (const [key, inner] of entries) {
    const fault = typeof key === 'string' ? textFault(key) : undefined
    if (fault !== undefined) return { field: path.join('.'), fault: `has a name that ${fault}` }
    const found = oddText(inner, [...path, String(key)])
    if (found !== undefined) return found
  }
  return undefined
}
