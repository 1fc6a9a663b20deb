import { TOOL_BOUNDS } from './bounds.ts'
import { BadArguments } from './toolbox.ts'

/** Whether a path fits. A pattern without a slash is tried on the last name, any other on the whole path. */
export type PathPattern = (path: string) => boolean

/**
 * Reads a pattern: `*` and `?` within one name, `**` over any number of them, `[abc]`, `[!abc]`, `{one,two}`.
 * Matching takes time in proportion to pattern and path together: nothing that a model writes can make it hang.
 */
export function parseGlob(pattern: string): PathPattern {
  if (pattern === '' || Buffer.byteLength(pattern) > TOOL_BOUNDS.globBytes)
    throw new BadArguments(`glob: a pattern has 1 to ${TOOL_BOUNDS.globBytes} bytes`)
  const globs = alternatives(pattern).map((one) => {
    const names = one
      .replace(/^(?:\.?\/)+/, '')
      .split('/')
      .filter((name) => name !== '')
    const anywhere = !one.replace(/\/$/, '').includes('/')
    return (anywhere ? ['**', ...names] : names).map((name) => (name === '**' ? ('**' as const) : parseName(name)))
  })
  return (path) => {
    const names = path.split('/').map((name) => Array.from(name))
    return globs.some((glob) => matchNames(glob, names))
  }
}

type NamePart = { readonly kind: 'any' } | { readonly kind: 'one'; readonly fits: (char: string) => boolean }
type NamePattern = '**' | readonly NamePart[]

/** Which of the first parts are used up, name by name: every pair is looked at once. */
function matchNames(glob: readonly NamePattern[], names: readonly (readonly string[])[]): boolean {
  let reached = closure(glob, new Set([0]))
  for (const name of names) {
    const next = new Set<number>()
    for (const at of reached) {
      const part = glob[at]
      if (part === '**') next.add(at)
      else if (part !== undefined && matchName(part, name)) next.add(at + 1)
    }
    reached = closure(glob, next)
  }
  return reached.has(glob.length)
}

/** `**` may stand for no name at all. */
function closure(glob: readonly NamePattern[], at: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set<number>()
  for (const start of at) {
    all.add(start)
    for (let next = start; glob[next] === '**';) all.add(++next)
  }
  return all
}

/** The last star takes one more character whenever what follows it does not fit. */
function matchName(parts: readonly NamePart[], name: readonly string[]): boolean {
  let part = 0
  let char = 0
  let star = -1
  let resume = 0
  while (char < name.length) {
    const current = parts[part]
    if (current?.kind === 'any') {
      star = part++
      resume = char
    } else if (current?.kind === 'one' && current.fits(name[char] ?? '')) {
      part++
      char++
    } else if (star >= 0) {
      part = star + 1
      char = ++resume
    } else return false
  }
  return parts.slice(part).every(({ kind }) => kind === 'any')
}

function parseName(name: string): readonly NamePart[] {
  const parts: NamePart[] = []
  const chars = Array.from(name)
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    const end = char === '[' ? chars.indexOf(']', at + 2) : -1
    if (char === '*') parts.push({ kind: 'any' })
    else if (char === '?') parts.push({ kind: 'one', fits: () => true })
    else if (end !== -1) {
      parts.push({ kind: 'one', fits: oneOf(chars.slice(at + 1, end)) })
      at = end
    } else parts.push({ kind: 'one', fits: (found) => found === char })
  }
  return parts
}

function oneOf(chars: readonly string[]): (char: string) => boolean {
  const isNegated = chars[0] === '!' || chars[0] === '^'
  const set = isNegated ? chars.slice(1) : chars
  const fits = (char: string): boolean =>
    set.some((one, at) => {
      const last = set[at + 2]
      if (set[at + 1] === '-' && last !== undefined) return one <= char && char <= last
      return one === char
    })
  return (char) => fits(char) !== isNegated
}

/** Braces written out, the innermost last. */
function alternatives(pattern: string): readonly string[] {
  const done: string[] = []
  const open = [pattern]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [all, choices] = /\{([^{}]*,[^{}]*)\}/.exec(next) ?? []
    if (all === undefined || choices === undefined) done.push(next)
    else for (const choice of choices.split(',')) open.push(next.replace(all, () => choice))
    if (done.length + open.length > TOOL_BOUNDS.globAlternatives)
      throw new BadArguments(`glob: the braces stand for more than ${TOOL_BOUNDS.globAlternatives} patterns`)
  }
  return done
}
