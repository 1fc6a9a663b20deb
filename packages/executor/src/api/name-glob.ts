/** A name or a pattern in the case in which they are compared. Made once for each, and not for each pair. */
export type Folded = Uint16Array

/**
 * Whether a name is what a pattern says: `*` is anything, `?` one UTF-16 unit, case does not count. Whoever asks for a process
 * writes the pattern, and a regular expression made of it may take longer than anybody waits. This never goes back behind the
 * last `*`, so that no pattern takes more than its length times that of the name.
 */
export function matchesGlob(pattern: Folded, name: Folded): boolean {
  let at = 0
  let inName = 0
  /** Units of the name that the rest of the pattern needs. */
  let needed = pattern.reduce((count, unit) => (unit === ANY ? count : count + 1), 0)
  let lastAny = -1
  /** Where in the name what follows the last `*` is tried, and what it needs. */
  let triedAt = 0
  let neededThere = needed
  while (inName < name.length) {
    const unit = pattern[at]
    if (unit === ANY) {
      lastAny = at
      triedAt = inName
      neededThere = needed
      at += 1
    } else if (unit !== undefined && (unit === ONE || unit === name[inName])) {
      at += 1
      inName += 1
      needed -= 1
    } else {
      triedAt += 1
      if (lastAny === -1 || triedAt + neededThere > name.length) return false
      inName = triedAt
      at = lastAny + 1
      needed = neededThere
    }
  }
  return needed === 0
}

/** As a regular expression without regard to case does it: unit by unit, and nothing becomes ASCII that was not. */
export function folded(text: string): Folded {
  return Uint16Array.from({ length: text.length }, (_, at) => foldedUnit(text.charCodeAt(at)))
}

const ANY = '*'.charCodeAt(0)
const ONE = '?'.charCodeAt(0)
const ASCII_END = 0x80

function foldedUnit(unit: number): number {
  const upper = String.fromCharCode(unit).toUpperCase()
  const one = upper.length === 1 ? upper.charCodeAt(0) : unit
  return unit >= ASCII_END && one < ASCII_END ? unit : one
}
