import type { CompareMode, FloatTolerance, TestsFormat } from '../job/compare.ts'
import type { TestCase } from './case-list.ts'
import {
  type TestsManifest,
  type TestsProgram,
  MANIFEST_PATH,
  manifestFile,
  manifestProgram,
  parseManifest,
  whereOf,
} from './manifest.ts'
import { findPairs } from './pairs.ts'
import { TestsInvalid } from './tests-invalid.ts'

/** A subtask. With points of its own it counts only when all of its cases pass; without (null) each case counts by itself. */
export interface TestGroup {
  readonly name: string
  readonly points: number | null
  readonly cases: number
}

/** What the files below `tests/` mean. The gateway and every judge get it from here, so that they cannot disagree. */
export interface Discovery {
  readonly format: 'manifest' | 'in_out_pairs'
  /** In the order in which they are judged: the manifest's own, or natural order. */
  readonly cases: readonly TestCase[]
  /** In the order of their first cases. */
  readonly groups: readonly TestGroup[]
  /** What the manifest asks for, for all its cases; left out where it is silent. */
  readonly compareMode?: CompareMode
  readonly floatTolerance?: FloatTolerance
  readonly timeLimitMs?: number
  readonly memoryLimitMb?: number
  readonly checker?: TestsProgram
  readonly interactor?: TestsProgram
  /** For people: what was left aside, and the like. */
  readonly notes: readonly string[]
}

export interface DiscoverOptions {
  /** The job's inputs by name; what does not start with `tests/` is left aside. */
  readonly paths: readonly string[]
  readonly format: TestsFormat
  /** Names of the cases that may be seen, all others are hidden; null: the manifest says, or all may. */
  readonly samples: readonly string[] | null
}

const CASE_POINTS = 1
const NAMES_SHOWN = 5

/** Finds the cases among the files of a job; throws `TestsInvalid`. `manifest` is the text of `tests/manifest.json`. */
export function discoverTests(options: DiscoverOptions & { readonly manifest: string | undefined }): Discovery {
  const paths = options.paths.filter((path) => path.startsWith('tests/'))
  if (options.format === 'manifest' && !usesManifest(options))
    throw new TestsInvalid('no_manifest', 'the tests have no manifest.json', {
      field: 'tests_format',
      hint: 'put manifest.json beside the tests, or ask for the format auto',
    })
  const found =
    options.manifest !== undefined && usesManifest(options)
      ? fromManifest(parseManifest(options.manifest), new Set(paths))
      : fromPairs(paths)
  return { ...found, cases: withSamples(found.cases, options.samples) }
}

/** As `discoverTests`, for whoever has to fetch the manifest first; it is asked for only if it counts. */
export async function discoverTestsIn(options: DiscoverOptions, readManifest: () => Promise<string>): Promise<Discovery> {
  return discoverTests({ ...options, manifest: usesManifest(options) ? await readManifest() : undefined })
}

const usesManifest = ({ paths, format }: DiscoverOptions): boolean => format !== 'in_out_pairs' && paths.includes(MANIFEST_PATH)

function fromPairs(paths: readonly string[]): Discovery {
  const pairs = findPairs(paths)
  if (pairs.length === 0)
    throw new TestsInvalid('no_cases', 'there is no case among the tests', {
      hint: 'name them 1.in and 1.out (or .ans), input1.txt and output1.txt, 01 and 01.a, or write a manifest.json',
    })
  const cases = pairs.map((pair) => ({
    name: pair.name,
    group: pair.group,
    input_rel: pair.input,
    expected_rel: pair.expected,
    expected_present: pair.expected !== null,
    hidden: false,
    points: CASE_POINTS,
    compare_mode: null,
  }))
  const used = new Set(pairs.flatMap(({ input, expected }) => (expected === null ? [input] : [input, expected])))
  return {
    format: 'in_out_pairs',
    cases,
    groups: groupsOf(cases, new Map()),
    notes: notesOf(
      'without a case',
      paths.filter((path) => !used.has(path)),
    ),
  }
}

function fromManifest(manifest: TestsManifest, files: ReadonlySet<string>): Discovery {
  if (manifest.cases.length === 0) throw new TestsInvalid('no_cases', 'there is no case', { where: whereOf(['cases']) })
  const points = groupPoints(manifest)
  const names = new Set<string>()
  const cases = manifest.cases.map((entry, index): TestCase => {
    const at = (field: string) => ['cases', index, field]
    const input = manifestFile(entry.in, at('in'), files)
    const expected = typeof entry.out === 'string' ? manifestFile(entry.out, at('out'), files) : null
    const name = entry.name ?? entry.in.replace(/\.[^./]+$/, '')
    if (names.has(name))
      throw new TestsInvalid('duplicate', `a case before it has the name ${name}`, { where: whereOf(at('name')) })
    names.add(name)
    const isSubtask = typeof points.get(entry.group) === 'number'
    if (isSubtask && entry.points !== undefined)
      throw new TestsInvalid('manifest_field', `the group ${entry.group} has points, so its cases cannot have their own`, {
        where: whereOf(at('points')),
      })
    return {
      name,
      group: entry.group,
      input_rel: input,
      expected_rel: expected,
      expected_present: expected !== null,
      hidden: entry.hidden,
      points: isSubtask ? 0 : (entry.points ?? CASE_POINTS),
      compare_mode: entry.compare_mode ?? null,
    }
  })
  const groups = groupsOf(cases, points)
  const checker = manifestProgram(manifest.checker, 'checker', files)
  const interactor = manifestProgram(manifest.interactor, 'interactor', files)
  const compareMode = manifest.compare_mode ?? impliedMode(manifest)
  const empty = [...points.keys()].filter((name) => groups.every((group) => group.name !== name))
  return {
    format: 'manifest',
    cases,
    groups,
    ...(compareMode === undefined ? {} : { compareMode }),
    ...(manifest.float_tolerance === undefined ? {} : { floatTolerance: manifest.float_tolerance }),
    ...(manifest.time_limit_ms === undefined ? {} : { timeLimitMs: manifest.time_limit_ms }),
    ...(manifest.memory_limit_mb === undefined ? {} : { memoryLimitMb: manifest.memory_limit_mb }),
    ...(checker === undefined ? {} : { checker }),
    ...(interactor === undefined ? {} : { interactor }),
    notes: notesOf('groups without a case', empty),
  }
}

/** A program that no case asks for by itself is meant for all of them. */
function impliedMode({ checker, interactor, cases }: TestsManifest): CompareMode | undefined {
  const isAsked = (mode: CompareMode) => cases.some((entry) => entry.compare_mode === mode)
  if (interactor !== undefined && !isAsked('interactive')) return 'interactive'
  return checker !== undefined && !isAsked('checker') ? 'checker' : undefined
}

function groupPoints({ groups = [] }: TestsManifest): ReadonlyMap<string, number | null> {
  const points = new Map<string, number | null>()
  const listed = Array.isArray(groups) ? groups : Object.entries(groups).map(([name, group]) => ({ name, ...group }))
  for (const [index, group] of listed.entries()) {
    if (points.has(group.name))
      throw new TestsInvalid('duplicate', `a group before it has the name ${group.name}`, {
        where: whereOf(['groups', index, 'name']),
      })
    points.set(group.name, group.points ?? null)
  }
  return points
}

function groupsOf(cases: readonly TestCase[], points: ReadonlyMap<string, number | null>): readonly TestGroup[] {
  const counts = new Map<string, number>()
  for (const { group } of cases) counts.set(group, (counts.get(group) ?? 0) + 1)
  return [...counts].map(([name, count]) => ({ name, points: points.get(name) ?? null, cases: count }))
}

function withSamples(cases: readonly TestCase[], samples: readonly string[] | null): readonly TestCase[] {
  if (samples === null) return cases
  const names = new Set(cases.map(({ name }) => name))
  const unknown = samples.find((sample) => !names.has(sample))
  if (unknown !== undefined)
    throw new TestsInvalid('unknown_sample', `there is no case ${unknown}`, {
      field: 'samples',
      hint: `cases are called ${listed([...names])}`,
    })
  const visible = new Set(samples)
  return cases.map((entry) => ({ ...entry, hidden: !visible.has(entry.name) }))
}

const notesOf = (what: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${what}: ${listed(names)}`]

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  return names.length > NAMES_SHOWN ? `${shown} and ${names.length - NAMES_SHOWN} more` : shown
}
