/** How much two lines may differ and still be the same, from nothing to the punctuation that models rewrite. */
const SAMENESS: readonly ((line: string) => string)[] = [(line) => line, (line) => line.trimEnd(), (line) => line.trim(), plain]

/** Hyphens and dashes, single and double quotes, and blanks of any width, as a keyboard has them. */
export function plain(line: string): string {
  return line
    .trim()
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u2018-\u201B]/g, "'")
    .replaceAll(/[\u201C-\u201F]/g, '"')
    .replaceAll(/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, ' ')
}

/** The first place at or after `from` where the wanted lines stand; exact places come before any that only look alike. */
export function findLines(lines: readonly string[], wanted: readonly string[], from: number): number | undefined {
  for (const same of SAMENESS) {
    const pattern = wanted.map(same)
    const found = search(lines, pattern, same, from)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether the wanted lines stand right there. */
export function standAt(lines: readonly string[], wanted: readonly string[], at: number): boolean {
  if (at < 0 || at + wanted.length > lines.length) return false
  return SAMENESS.some((same) => wanted.every((line, index) => same(lines[at + index] ?? '') === same(line)))
}

function search(
  lines: readonly string[],
  pattern: readonly string[],
  same: (line: string) => string,
  from: number,
): number | undefined {
  const changed = lines.slice(from).map(same)
  const last = changed.length - pattern.length
  for (let at = 0; at <= last; at++) {
    if (pattern.every((line, index) => changed[at + index] === line)) return from + at
  }
  return undefined
}
