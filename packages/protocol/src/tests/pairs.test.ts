import { describe, expect, test } from 'vitest'
import { discoverTests } from './discover.ts'
import { findPairs } from './pairs.ts'

const below = (names: readonly string[]): readonly string[] => names.map((name) => `tests/${name}`)
const pairs = (...names: string[]) => findPairs(below(names)).map(({ name, group, expected }) => [name, group, expected])

describe('Polygon’s layout', () => {
  test.each([
    ['two digits', '01', '02', '10'],
    ['as many as are needed', '1', '2', '10'],
    ['three digits', '001', '002', '010'],
  ])('a number and the same with .a are a pair: %s', (_, ...names) => {
    const files = names.toReversed().flatMap((name) => [`${name}.a`, name])
    expect(pairs(...files)).toEqual(names.map((name) => [name, 'default', `tests/${name}.a`]))
  })

  test('a number without an answer is a case only where other numbers have one, in whatever folder', () => {
    expect(pairs('01', '02', '02.a')).toEqual([
      ['01', 'default', null],
      ['02', 'default', 'tests/02.a'],
    ])
    expect(pairs('01', '02')).toEqual([])
    expect(pairs('01', '1.in', '1.out')).toEqual([['1', 'default', 'tests/1.out']])
    expect(pairs('a/01', 'a/01.a', 'b/01', 'b/c/2')).toEqual([
      ['a/01', 'a', 'tests/a/01.a'],
      ['b/01', 'b', null],
      ['2', 'b', null],
    ])
    expect(pairs('a/01', 'b/01')).toEqual([])
  })

  test('an answer without its number, and names that are no numbers, are no cases', () => {
    expect(pairs('01.a')).toEqual([])
    expect(pairs('lib', 'lib.a', 'readme')).toEqual([])
    expect(pairs('01', '01.a', '01.a.a', '1x', '1x.a', '-1', '-1.a')).toEqual([['01', 'default', 'tests/01.a']])
  })

  test('folders are groups, and names that would collide carry them', () => {
    expect(pairs('easy/01', 'easy/01.a', 'hard/01', 'hard/01.a', 'hard/02', 'hard/02.a')).toEqual([
      ['easy/01', 'easy', 'tests/easy/01.a'],
      ['hard/01', 'hard', 'tests/hard/01.a'],
      ['02', 'hard', 'tests/hard/02.a'],
    ])
  })

  test('it stands beside the other layouts, and each input keeps its own answer', () => {
    expect(pairs('1', '1.a', '1.in', '1.out', '2.in', '2.ans', 'input3', 'output3')).toEqual([
      ['1', 'default', 'tests/1.a'],
      ['1.in', 'default', 'tests/1.out'],
      ['2', 'default', 'tests/2.ans'],
      ['input3', 'default', 'tests/output3'],
    ])
  })

  test('a manifest says the groups of such files', () => {
    const manifest = {
      groups: [{ name: 'samples' }, { name: 'all', points: 100 }],
      cases: [
        { in: '01', out: '01.a', group: 'samples' },
        { in: '02', out: '02.a', group: 'all', hidden: true },
      ],
    }
    const paths = below(['01', '01.a', '02', '02.a', 'manifest.json'])
    const found = discoverTests({ paths, format: 'auto', samples: null, manifest: JSON.stringify(manifest) })
    expect(found.cases).toMatchObject([
      { name: '01', group: 'samples', expected_rel: 'tests/01.a', hidden: false },
      { name: '02', group: 'all', expected_rel: 'tests/02.a', hidden: true },
    ])
    expect(found.groups).toEqual([
      { name: 'samples', points: null, cases: 1 },
      { name: 'all', points: 100, cases: 1 },
    ])
  })
})

test('whatever files there are: names are unique, no number has two places, and layouts without .a are as they were', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const files = randomFiles(seed)
    const found = findPairs(files)
    const used = found.flatMap(({ input, expected }) => (expected === null ? [input] : [input, expected]))
    expect({ files, names: new Set(found.map(({ name }) => name)).size }).toEqual({ files, names: found.length })
    const numbers = used.filter((path) => IS_POLYGON.test(path))
    expect({ files, numbers: [...new Set(numbers)] }).toEqual({ files, numbers })
    for (const path of used) expect(files).toContain(path)
    expect({ files, found: findPairs(files.toReversed()) }).toEqual({ files, found })
    // Without the numbers and their answers the other files mean what they meant.
    const others = files.filter((path) => !IS_POLYGON.test(path))
    const inputsOf = (paths: readonly string[]) => findPairs(paths).map(({ input, expected }) => [input, expected])
    expect(inputsOf(files).filter(([input]) => others.includes(String(input)))).toEqual(inputsOf(others))
  }
})

const IS_POLYGON = /\/\d+(\.a)?$/
const FOLDERS = ['', '', 'a/', 'a/b/']
const BASES = ['1', '01', '2', 'input1', 'input', 'x', 'output1']
const ENDS = ['', '.a', '.in', '.out', '.ans', '.txt']

/** Some of few names, so that they meet. */
function randomFiles(seed: number): readonly string[] {
  let state = seed
  const pick = (from: readonly string[]): string => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return from[Math.floor(state / 65_536) % from.length] ?? ''
  }
  return [...new Set(Array.from({ length: 12 }, () => `tests/${pick(FOLDERS)}${pick(BASES)}${pick(ENDS)}`))]
}
