import { headOf } from '../cut.ts'
import { plain } from './find-lines.ts'

/** Lines of the file that are compared, and lines of the change that are looked for. */
const FILE_LINES = 20_000
const WANTED_LINES = 40
const SHOWN_LINES = 12
const SHOWN_BYTES = 200
/** Of 1: below this two lines have nothing to do with each other. */
const ALIKE = 0.5

/** What the file has instead, in words to put behind a complaint; empty when nothing comes near. */
export function nearestLines(texts: readonly string[], wanted: readonly string[]): string {
  if (texts.length === 0) return '\nThe file is empty.'
  const at = mostShared(texts, wanted) ?? mostAlike(texts, wanted)
  if (at === undefined) return `\nNothing in the file comes near (${texts.length} lines): read it again.`
  const from = Math.max(0, at - 1)
  const shown = texts.slice(from, from + Math.min(SHOWN_LINES, wanted.length + 2))
  const numbered = shown.map((text, index) => `${String(from + index + 1).padStart(6)}\t${headOf(text, SHOWN_BYTES)}`)
  return `\nThe nearest lines of the file are:\n${numbered.join('\n')}`
}

/** The place where most of the wanted lines stand, each at its own distance from the first. */
function mostShared(texts: readonly string[], wanted: readonly string[]): number | undefined {
  const votes = new Map<number, number>()
  const places = new Map<string, number[]>()
  for (const [index, text] of texts.slice(0, FILE_LINES).entries()) {
    const line = plain(text)
    if (line !== '') places.set(line, [...(places.get(line) ?? []).slice(0, 20), index])
  }
  for (const [index, line] of wanted.slice(0, WANTED_LINES).entries()) {
    for (const place of places.get(plain(line)) ?? []) {
      const start = Math.max(0, place - index)
      votes.set(start, (votes.get(start) ?? 0) + 1)
    }
  }
  return best(votes, 0)
}

function mostAlike(texts: readonly string[], wanted: readonly string[]): number | undefined {
  const index = wanted.findIndex((line) => plain(line).length > 2)
  const line = wanted[index]
  if (line === undefined) return undefined
  const pairs = pairsOf(plain(line))
  const scores = new Map<number, number>()
  for (const [place, text] of texts.slice(0, FILE_LINES).entries()) {
    const score = likeness(pairs, pairsOf(plain(text).slice(0, SHOWN_BYTES)))
    if (score >= ALIKE) scores.set(Math.max(0, place - index), score)
  }
  return best(scores, ALIKE)
}

function best(scores: ReadonlyMap<number, number>, atLeast: number): number | undefined {
  let found: number | undefined
  let highest = atLeast
  for (const [place, score] of scores) {
    if (score > highest || (found === undefined && score >= highest)) {
      found = place
      highest = score
    }
  }
  return found
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>()
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2))
  return pairs
}

function likeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size === 0 || right.size === 0) return 0
  let shared = 0
  for (const pair of left) if (right.has(pair)) shared++
  return (2 * shared) / (left.size + right.size)
}
