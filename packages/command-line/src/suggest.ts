import { type CommandError, usageError } from './command-error.ts'

/** A wrong word is at most this many typing mistakes away from the right one. */
const MISTAKES = 2
/** Of a word as short as this two mistakes make any other. */
const SHORT = 4

/** The candidate that was most likely meant, if any is near enough. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: Math.min(distance(word, candidate), fromStart(word, candidate)) }))
    .filter(({ candidate, distance: mistakes }) => mistakes <= (candidate.length > SHORT ? MISTAKES : 1))
    .toSorted((a, b) => a.distance - b.distance)
  return near[0]?.candidate
}

/** Somebody may have typed the beginning alone, and a longer one with a mistake in it. */
function fromStart(word: string, candidate: string): number {
  if (candidate.startsWith(word)) return word.length > 1 ? 1 : MISTAKES + 1
  if (word.length <= SHORT) return MISTAKES + 1
  return 1 + Math.min(...[0, 1].map((more) => distance(word, candidate.slice(0, word.length + more))))
}

/** Letters to add, drop, change or swap with a neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let best = Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) best = Math.min(best, (before[column - 2] ?? 0) + 1)
      current.push(best)
    }
    before = previous
    previous = current
  }
  return previous[b.length] ?? a.length
}

/** As many as one reads. */
const SHOWN = 30

/** Something was named that is not in a closed set: says what is, and which of it was meant. */
export function noneOf(what: string, given: string, choices: readonly string[], help?: string): CommandError {
  const meant = suggest(given.toLowerCase(), choices)
  const hints = [...(meant === undefined ? [] : [`did you mean ${meant}?`]), ...(help === undefined ? [] : [help])]
  const listed = choices.slice(0, SHOWN).join(', ')
  const more = choices.length > SHOWN ? `, … ${choices.length - SHOWN} more` : ''
  return usageError(`${what} ${given} is none of: ${listed}${more}`, hints.length === 0 ? undefined : hints.join(' '))
}
