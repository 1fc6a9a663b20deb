/** A pattern in which `*` stands for any characters. It takes time in proportion to the text: there is nothing to go back to. */
export interface NamePattern {
  /** The one text that it matches, where it has no `*`. */
  readonly literal: string | undefined
  matches(text: string): boolean
}

/** `\` takes the meaning from what follows it. */
export function compileGlob(pattern: string): NamePattern {
  const parts = partsOf(pattern)
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return { literal: first, matches: (text) => text === first }
  return {
    literal: undefined,
    matches: (text) => {
      if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
      const end = text.length - last.length
      let at = first.length
      for (const part of rest) {
        const found = text.indexOf(part, at)
        if (found === -1 || found + part.length > end) return false
        at = found + part.length
      }
      return at <= end
    },
  }
}

/** A pattern that matches this text and nothing else. */
export const globOf = (text: string): string => text.replaceAll(/[\\*]/g, String.raw`\$&`)

/** What stands between the stars. */
function partsOf(pattern: string): readonly string[] {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at)
    if (char === '*') {
      parts.push(part)
      part = ''
    } else if (char === '\\') {
      at += 1
      part += pattern.charAt(at)
    } else part += char
  }
  return [...parts, part]
}
