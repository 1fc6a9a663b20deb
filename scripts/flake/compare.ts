/** How one test ended. */
export interface TestEnd {
  readonly state: 'passed' | 'failed' | 'skipped'
  /** The first line of what went wrong. */
  readonly error?: string
}

/** What one run of a part was like. */
export interface RunResult {
  readonly seed: number
  /** By file and name; undefined when the runner did not live to tell. */
  readonly tests?: Readonly<Record<string, TestEnd>>
  /** What went wrong outside of any test: errors that nobody caught, a crash, processes that were left. */
  readonly outside: readonly string[]
}

/** Something that was not well, and the runs in which it was so. */
export interface Finding {
  readonly what: string
  readonly runs: readonly { readonly run: number; readonly seed: number; readonly words: string }[]
  readonly of: number
}

export interface Findings {
  /** Not the same each time. */
  readonly changing: readonly Finding[]
  /** Failed each time. */
  readonly failing: readonly Finding[]
  readonly outside: readonly Finding[]
}

/** Compares the runs of one part. A test that is left out or missing in some runs is not the same each time either. */
export function compareRuns(results: readonly RunResult[]): Findings {
  const told = results.flatMap(({ seed, tests }, index) => (tests === undefined ? [] : [{ run: index + 1, seed, tests }]))
  const names = [...new Set(told.flatMap(({ tests }) => Object.keys(tests)))].toSorted()
  const found = names.flatMap((what) => {
    const ends = told.map(({ run, seed, tests }) => ({ run, seed, end: tests[what] }))
    const states = new Set(ends.map(({ end }) => end?.state ?? 'missing'))
    if (states.size === 1 && !states.has('failed')) return []
    const odd = states.size === 1 ? ends : ends.filter(({ end }) => end?.state !== usualOf(states))
    const runs = odd.map(({ run, seed, end }) => ({ run, seed, words: wordsOf(end) }))
    return [{ isChanging: states.size > 1, finding: { what, runs, of: told.length } }]
  })
  return {
    changing: found.flatMap(({ isChanging, finding }) => (isChanging ? [finding] : [])),
    failing: found.flatMap(({ isChanging, finding }) => (isChanging ? [] : [finding])),
    outside: outsideOf(results),
  }
}

/** What a test should be: passed if it ever was, else left out. */
function usualOf(states: ReadonlySet<string>): string {
  return states.has('passed') ? 'passed' : 'skipped'
}

function wordsOf(end: TestEnd | undefined): string {
  if (end === undefined) return 'it was not run'
  return end.state === 'failed' ? (end.error ?? 'it failed without a word') : `it was ${end.state}`
}

function outsideOf(results: readonly RunResult[]): readonly Finding[] {
  const seen = results.flatMap(({ seed, outside }, index) => outside.map((what) => ({ what, run: index + 1, seed })))
  return [...Map.groupBy(seen, ({ what }) => what)].map(([what, at]) => ({
    what,
    runs: at.map(({ run, seed }) => ({ run, seed, words: '' })),
    of: results.length,
  }))
}
