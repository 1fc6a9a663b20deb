/** What one letter is worth, what a gap costs, what it adds to begin a word: the weights that fzf made usual. */
const MATCH = 16
const GAP_START = 3
const GAP_MORE = 1
const BONUS_WORD = 8
const BONUS_START = 10
const BONUS_SEPARATOR = 9
const BONUS_HUMP = 6
const BONUS_RUN = 4
const FIRST_LETTER = 2

export interface FuzzyMatch {
  readonly score: number
  /** Where the letters of the query stand, in characters. */
  readonly indices: readonly number[]
}

/** The best way to find the letters of `query` in `text` in order; `undefined` where they are not there. A query in small letters finds both cases. */
export function fuzzyMatch(query: readonly string[], text: string): FuzzyMatch | undefined {
  if (query.length === 0) return { score: 0, indices: [] }
  const letters = Array.from(text)
  const isSmall = query.every((letter) => letter === letter.toLowerCase())
  const seen = isSmall ? letters.map((letter) => letter.toLowerCase()) : letters
  if (!isSubsequence(query, seen)) return undefined
  const bonus = letters.map((letter, index) => bonusAt(letters[index - 1], letter))
  // rows[i][j]: the best score with letter i of the query at place j; runs[i][j]: the bonus that its unbroken run began with.
  const rows: number[][] = []
  const runs: number[][] = []
  const from: number[][] = []
  for (const [i, wanted] of query.entries()) {
    const row = Array.from(letters, () => -Infinity)
    const run = Array.from(letters, () => 0)
    const back = Array.from(letters, () => -1)
    const above = rows[i - 1]
    let gap = -Infinity
    let gapFrom = -1
    for (const [j, letter] of seen.entries()) {
      if (above !== undefined && j >= 2) {
        const started = (above[j - 2] ?? -Infinity) - GAP_START
        gap -= GAP_MORE
        if (started >= gap) {
          gap = started
          gapFrom = j - 2
        }
      }
      if (letter !== wanted) continue
      const own = bonus[j] ?? 0
      if (above === undefined) {
        row[j] = MATCH + own * FIRST_LETTER
        run[j] = own
        continue
      }
      const next = above[j - 1] ?? -Infinity
      const begun = runs[i - 1]?.[j - 1] ?? 0
      const kept = own >= BONUS_WORD && own > begun ? own : begun
      const inRun = next + MATCH + Math.max(own, BONUS_RUN, kept)
      const afterGap = gap + MATCH + own
      const stays = inRun >= afterGap
      row[j] = stays ? inRun : afterGap
      run[j] = stays ? kept : own
      back[j] = stays ? j - 1 : gapFrom
    }
    rows.push(row)
    runs.push(run)
    from.push(back)
  }
  return traced(rows.at(-1) ?? [], from)
}

function traced(last: readonly number[], from: readonly (readonly number[])[]): FuzzyMatch {
  let at = 0
  for (const [index, score] of last.entries()) if (score > (last[at] ?? -Infinity)) at = index
  const score = last[at] ?? 0
  const indices: number[] = []
  for (let i = from.length - 1; i >= 0; i--) {
    indices.unshift(at)
    at = from[i]?.[at] ?? -1
  }
  return { score: Math.max(0, score), indices }
}

function isSubsequence(query: readonly string[], text: readonly string[]): boolean {
  let found = 0
  for (const letter of text) if (letter === query[found]) found += 1
  return found === query.length
}

function bonusAt(before: string | undefined, letter: string): number {
  if (!/[\p{L}\p{N}]/u.test(letter)) return 0
  if (before === undefined || /\s/.test(before)) return BONUS_START
  if (/[/,:;|]/.test(before)) return BONUS_SEPARATOR
  if (!/[\p{L}\p{N}]/u.test(before)) return BONUS_WORD
  if (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(letter)) return BONUS_HUMP
  return /\p{N}/u.test(letter) && !/\p{N}/u.test(before) ? BONUS_HUMP : 0
}
