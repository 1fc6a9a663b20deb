import { compareNaturally } from './natural-order.ts'

/** An input and, where there is one, what is expected for it. Paths as the inputs name them. */
export interface Pair {
  readonly name: string
  readonly group: string
  readonly input: string
  readonly expected: string | null
}

const ROOT = 'tests/'
const INPUT = /^input(\d*)(\.txt)?$/
const NUMBER = /^\d+$/
/** What Polygon puts behind the number of a test for its answer. */
const POLYGON_ANSWER = '.a'

/**
 * Pairs `x.in` with `x.out` or `x.ans`, `inputN` with `outputN` (both may end in `.txt`), and, as Polygon names them, `01`
 * with `01.a`; in one folder, in natural order.
 */
export function findPairs(paths: readonly string[]): readonly Pair[] {
  const files = new Set(paths)
  const hasNumbers = isPolygon(files)
  const found = [...files].flatMap((input) => {
    const expected = expectedFor(input, hasNumbers)
    return expected === undefined ? [] : [{ input, expected: expected.find((path) => files.has(path)) ?? null }]
  })
  const names = namesOf(found.map(({ input }) => input))
  return found
    .map(({ input, expected }) => ({ name: names.get(input) ?? input, group: groupOf(input), input, expected }))
    .toSorted((a, b) => compareNaturally(a.group, b.group) || compareInputs(a.input, b.input))
}

/**
 * Whether a bare number is an input: at least one, in whatever folder, has its answer beside it. Numbers alone may be anything, but where
 * others have answers each is a case, if need be one that has none, and must not be left out.
 */
function isPolygon(files: ReadonlySet<string>): boolean {
  return [...files].some((path) => NUMBER.test(split(path).base) && files.has(`${path}${POLYGON_ANSWER}`))
}

/** Where the expected output of an input may stand, best first; `undefined` for what is no input. */
function expectedFor(path: string, hasNumbers: boolean): readonly string[] | undefined {
  const { folder, base } = split(path)
  if (hasNumbers && NUMBER.test(base)) return [`${path}${POLYGON_ANSWER}`]
  if (base.endsWith('.in') && base !== '.in') {
    const stem = path.slice(0, -'.in'.length)
    return [`${stem}.out`, `${stem}.ans`]
  }
  const numbered = INPUT.exec(base)
  if (numbered === null) return undefined
  const output = `${folder}output${numbered[1] ?? ''}`
  return numbered[2] === undefined ? [output, `${output}.txt`] : [`${output}.txt`, output]
}

/** The shortest names that tell all inputs apart: file without extension, else with its folders, else the whole path. */
function namesOf(inputs: readonly string[]): ReadonlyMap<string, string> {
  const short = new Map(inputs.map((input) => [input, stemOf(split(input).base)]))
  const long = new Map(inputs.map((input) => [input, stemOf(input.slice(ROOT.length))]))
  const shortCounts = countOf(short.values())
  const longCounts = countOf(long.values())
  const names = new Map(
    inputs.map((input) => {
      const [shortName = input, longName = input] = [short.get(input), long.get(input)]
      if (shortCounts.get(shortName) === 1) return [input, shortName]
      return [input, longCounts.get(longName) === 1 ? longName : input.slice(ROOT.length)]
    }),
  )
  const areUnique = new Set(names.values()).size === inputs.length
  return areUnique ? names : new Map(inputs.map((input) => [input, input.slice(ROOT.length)]))
}

function countOf(names: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Without the extension first: `a.in` comes before `a1.in`. */
const compareInputs = (a: string, b: string): number => compareNaturally(stemOf(a), stemOf(b)) || compareNaturally(a, b)
const stemOf = (path: string): string => path.replace(/\.(in|txt)$/, '')

/** The first folder below `tests/`. */
function groupOf(path: string): string {
  const rest = path.slice(ROOT.length)
  const slash = rest.indexOf('/')
  return slash <= 0 ? 'default' : rest.slice(0, slash)
}

function split(path: string): { readonly folder: string; readonly base: string } {
  const slash = path.lastIndexOf('/') + 1
  return { folder: path.slice(0, slash), base: path.slice(slash) }
}
