import { describe, expect, test } from 'vitest'
import { TestCase } from './case-list.ts'
import { type DiscoverOptions, discoverTests, discoverTestsIn } from './discover.ts'
import { TestsInvalid } from './tests-invalid.ts'

const below = (...names: string[]) => names.map((name) => `tests/${name}`)
const discover = (names: string[], more: Partial<DiscoverOptions> & { manifest?: unknown } = {}) => {
  const { manifest, ...options } = more
  const text = typeof manifest === 'string' || manifest === undefined ? manifest : JSON.stringify(manifest)
  const paths = below(...names, ...(text === undefined ? [] : ['manifest.json']))
  return discoverTests({ paths, format: 'auto', samples: null, ...options, manifest: text })
}
const refusal = (run: () => unknown): Pick<TestsInvalid, 'code' | 'field' | 'message'> | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (!(error instanceof TestsInvalid)) throw error
    return { code: error.code, field: error.field, message: error.message }
  }
}
const brief = (cases: readonly TestCase[]) => cases.map(({ name, group, expected_rel }) => [name, group, expected_rel])

describe('pairs', () => {
  test('are found by their names, in natural order', () => {
    const found = discover(['10.in', '10.out', '2.in', '2.ans', '1.in', '1.out', 'readme.md'])
    expect(found).toEqual({
      format: 'in_out_pairs',
      cases: ['1', '2', '10'].map((name) => ({
        name,
        group: 'default',
        input_rel: `tests/${name}.in`,
        expected_rel: name === '2' ? 'tests/2.ans' : `tests/${name}.out`,
        expected_present: true,
        hidden: false,
        points: 1,
        compare_mode: null,
      })),
      groups: [{ name: 'default', points: null, cases: 3 }],
      notes: ['without a case: tests/readme.md'],
    })
    for (const entry of found.cases) expect(TestCase.parse(entry)).toEqual(entry)
  })

  test('may be numbered inputs and outputs, with .txt or without', () => {
    expect(
      brief(
        discover(['input10.txt', 'output10.txt', 'input9.txt', 'output9', 'input3', 'output3', 'input.txt', 'output.txt']).cases,
      ),
    ).toEqual([
      ['input', 'default', 'tests/output.txt'],
      ['input3', 'default', 'tests/output3'],
      ['input9', 'default', 'tests/output9'],
      ['input10', 'default', 'tests/output10.txt'],
    ])
  })

  test('an input alone is a case without an expected output; an output of another folder is not its own', () => {
    expect(brief(discover(['a/1.in', 'b/1.out', '2.in']).cases)).toEqual([
      ['1', 'a', null],
      ['2', 'default', null],
    ])
  })

  test('.out goes before .ans', () => {
    expect(discover(['1.in', '1.out', '1.ans'])).toMatchObject({
      cases: [{ expected_rel: 'tests/1.out' }],
      notes: ['without a case: tests/1.ans'],
    })
  })

  test('the first folder is the group, and names that would collide carry their folders', () => {
    const { cases, groups } = discover([
      's10/1.in',
      's2/1.in',
      's2/x/3.in',
      '1.in',
      's2/y/4.in',
      'input1',
      'input1.txt',
      'z/input1.in',
    ])
    expect(brief(cases).map(([name, group]) => [name, group])).toEqual([
      ['1', 'default'],
      ['input1', 'default'],
      ['input1.txt', 'default'],
      ['s2/1', 's2'],
      ['3', 's2'],
      ['4', 's2'],
      ['s10/1', 's10'],
      ['z/input1', 'z'],
    ])
    expect(groups.map(({ name, cases: count }) => [name, count])).toEqual([
      ['default', 3],
      ['s2', 3],
      ['s10', 1],
      ['z', 1],
    ])
  })

  test('none at all is an error, also beside other files', () => {
    for (const names of [[], ['readme.md', '1.out'], ['.in']])
      expect(refusal(() => discover(names))).toMatchObject({ code: 'no_cases', field: 'tests' })
    expect(
      refusal(() => discoverTests({ paths: ['1.in', 'job.json'], format: 'auto', samples: null, manifest: undefined })),
    ).toMatchObject({
      code: 'no_cases',
    })
  })
})

describe('a manifest', () => {
  const files = ['a.txt', 'b.txt', 'sub/c', 'a.ok', 'chk.cpp', 'inter.py', 'odd.xyz']
  test('says everything', () => {
    const manifest = {
      compare_mode: 'floats',
      float_tolerance: { absolute: 0.5 },
      time_limit_ms: 500,
      memory_limit_mb: 64,
      checker: 'chk.cpp',
      interactor: { file: 'inter.py', language: 'python' },
      groups: [{ name: 'big', points: 60 }, { name: 'small' }, { name: 'nobody', points: 3 }],
      cases: [
        { name: 'two', group: 'big', in: 'b.txt', out: 'a.ok', hidden: true },
        { name: 'one', in: 'a.txt', compare_mode: 'exact', points: 2.5 },
        { group: 'small', in: 'sub/c', out: null },
      ],
    }
    expect(discover(files, { manifest: `\uFEFF${JSON.stringify(manifest)}` })).toEqual({
      format: 'manifest',
      compareMode: 'floats',
      floatTolerance: { absolute: 0.5, relative: 1e-6 },
      timeLimitMs: 500,
      memoryLimitMb: 64,
      checker: { path: 'tests/chk.cpp', language: 'cpp' },
      interactor: { path: 'tests/inter.py', language: 'python' },
      cases: [
        {
          name: 'two',
          group: 'big',
          input_rel: 'tests/b.txt',
          expected_rel: 'tests/a.ok',
          expected_present: true,
          hidden: true,
          points: 0,
          compare_mode: null,
        },
        {
          name: 'one',
          group: 'default',
          input_rel: 'tests/a.txt',
          expected_rel: null,
          expected_present: false,
          hidden: false,
          points: 2.5,
          compare_mode: 'exact',
        },
        {
          name: 'sub/c',
          group: 'small',
          input_rel: 'tests/sub/c',
          expected_rel: null,
          expected_present: false,
          hidden: false,
          points: 1,
          compare_mode: null,
        },
      ],
      groups: [
        { name: 'big', points: 60, cases: 1 },
        { name: 'default', points: null, cases: 1 },
        { name: 'small', points: null, cases: 1 },
      ],
      notes: ['groups without a case: nobody'],
    })
  })

  test('with a program that no case asks for means it for all of them', () => {
    const one = { in: 'a.txt' }
    expect(discover(files, { manifest: { checker: 'chk.cpp', cases: [one] } }).compareMode).toBe('checker')
    expect(discover(files, { manifest: { interactor: 'inter.py', checker: 'chk.cpp', cases: [one] } }).compareMode).toBe(
      'interactive',
    )
    const asked = { checker: 'chk.cpp', cases: [one, { in: 'b.txt', compare_mode: 'checker' }] }
    expect(discover(files, { manifest: asked }).compareMode).toBeUndefined()
    expect(discover(files, { manifest: { checker: 'chk.cpp', compare_mode: 'lines', cases: [one] } }).compareMode).toBe('lines')
  })

  test('may give points to groups by name', () => {
    const manifest = { groups: { s1: { points: 10 } }, cases: [{ in: 'a.txt', group: 's1' }] }
    expect(discover(files, { manifest }).groups).toEqual([{ name: 's1', points: 10, cases: 1 }])
  })

  test.each([
    ['{', 'manifest_syntax', 'manifest.json: is not JSON'],
    ['[]', 'manifest_field', 'manifest.json: '],
    [{}, 'manifest_field', 'manifest.json cases: '],
    [{ cases: [] }, 'no_cases', 'manifest.json cases: '],
    [{ cases: [{}] }, 'manifest_field', 'manifest.json cases[0].in: '],
    [{ cases: [{ in: 'a.txt', hiden: true }] }, 'manifest_field', 'manifest.json cases[0].hiden: is not known'],
    [{ cases: [{ in: 'a.txt', compare_mode: 'guess' }] }, 'manifest_field', 'manifest.json cases[0].compare_mode: '],
    [{ cases: [{ in: 'a.txt', points: -1 }] }, 'manifest_field', 'manifest.json cases[0].points: '],
    [{ cases: [{ in: 'a.txt', name: 'a\u0000' }] }, 'manifest_field', 'manifest.json cases[0].name: '],
    [{ cases: [{ in: '../a.txt' }] }, 'path_outside', 'manifest.json cases[0].in: ../a.txt'],
    [{ cases: [{ in: 'a.txt', out: '/etc/passwd' }] }, 'path_outside', 'manifest.json cases[0].out: /etc/passwd'],
    [{ cases: [{ in: 'sub\\c' }] }, 'path_outside', 'manifest.json cases[0].in: sub\\c'],
    [{ cases: [{ in: 'sub/../a.txt' }] }, 'path_outside', 'manifest.json cases[0].in: '],
    [{ cases: [{ in: './a.txt' }] }, 'path_outside', 'manifest.json cases[0].in: '],
    [{ cases: [{ in: 'sub//c' }] }, 'path_outside', 'manifest.json cases[0].in: '],
    [{ cases: [{ in: 'C:a.txt' }] }, 'path_outside', 'manifest.json cases[0].in: '],
    [{ cases: [{ in: 'a.txt' }, { in: 'z.txt' }] }, 'file_missing', 'manifest.json cases[1].in: there is no file z.txt'],
    [{ cases: [{ in: 'a.txt', out: 'sub' }] }, 'file_missing', 'manifest.json cases[0].out: '],
    [{ cases: [{ in: 'a.txt' }, { name: 'a', in: 'b.txt' }] }, 'duplicate', 'manifest.json cases[1].name: '],
    [{ groups: [{ name: 'g' }, { name: 'g' }], cases: [{ in: 'a.txt' }] }, 'duplicate', 'manifest.json groups[1].name: '],
    [{ groups: { g: { points: 'x' } }, cases: [{ in: 'a.txt' }] }, 'manifest_field', 'manifest.json groups.g.points: '],
    [{ groups: [{ name: 'g', points: -1 }], cases: [{ in: 'a.txt' }] }, 'manifest_field', 'manifest.json groups[0].points: '],
    [{ groups: 7, cases: [{ in: 'a.txt' }] }, 'manifest_field', 'manifest.json groups: '],
    [
      { groups: { g: { points: 1 } }, cases: [{ in: 'a.txt', group: 'g', points: 1 }] },
      'manifest_field',
      'manifest.json cases[0].points: ',
    ],
    [{ checker: 'nope.cpp', cases: [{ in: 'a.txt' }] }, 'file_missing', 'manifest.json checker: '],
    [{ checker: { file: '../chk.cpp' }, cases: [{ in: 'a.txt' }] }, 'path_outside', 'manifest.json checker.file: '],
    [{ interactor: 'odd.xyz', cases: [{ in: 'a.txt' }] }, 'manifest_field', 'manifest.json interactor: odd.xyz'],
    [
      { checker: { file: 'chk.cpp', language: 'cobol' }, cases: [{ in: 'a.txt' }] },
      'manifest_field',
      'manifest.json checker.language: ',
    ],
  ])('that is wrong is refused with its place: %j', (manifest, code, message) => {
    const found = refusal(() => discover(files, { manifest }))
    expect(found).toMatchObject({ code, field: 'tests' })
    expect(found?.message.slice(0, message.length)).toBe(message)
  })

  test('is left aside when pairs are asked for, and missed when it is asked for', () => {
    expect(discover(['1.in'], { manifest: '{', format: 'in_out_pairs' }).format).toBe('in_out_pairs')
    expect(refusal(() => discover(['1.in'], { format: 'manifest' }))).toMatchObject({
      code: 'no_manifest',
      field: 'tests_format',
    })
    expect(refusal(() => discover(['1.in', 'sub/manifest.json'], { format: 'manifest' }))).toMatchObject({ code: 'no_manifest' })
  })

  test('is fetched only when it counts', async () => {
    let reads = 0
    const read = () => {
      reads += 1
      return Promise.resolve('{"cases": [{"in": "1.in"}]}')
    }
    const paths = below('1.in', 'manifest.json')
    expect((await discoverTestsIn({ paths, format: 'in_out_pairs', samples: null }, read)).format).toBe('in_out_pairs')
    expect(reads).toBe(0)
    expect((await discoverTestsIn({ paths, format: 'auto', samples: null }, read)).format).toBe('manifest')
    expect(reads).toBe(1)
  })
})

describe('samples', () => {
  test('are visible and all others are hidden, whatever the manifest says', () => {
    const hidden = (cases: readonly TestCase[]) => cases.map((entry) => entry.hidden)
    expect(hidden(discover(['1.in', '2.in'], { samples: ['2'] }).cases)).toEqual([true, false])
    expect(hidden(discover(['1.in', '2.in'], { samples: [] }).cases)).toEqual([true, true])
    const manifest = { cases: [{ in: '1.in', hidden: true }, { in: '2.in' }] }
    expect(hidden(discover(['1.in', '2.in'], { manifest }).cases)).toEqual([true, false])
    expect(hidden(discover(['1.in', '2.in'], { manifest, samples: ['1', '1'] }).cases)).toEqual([false, true])
  })

  test('that no case is called after are an error', () => {
    expect(refusal(() => discover(['1.in'], { samples: ['1', '1.in'] }))).toEqual({
      code: 'unknown_sample',
      field: 'samples',
      message: 'there is no case 1.in',
    })
  })
})

test('whatever the files are called: cases with names of their own, or a typed error', () => {
  const random = randomFrom(20_261_117)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const parts = [
    '1',
    '2',
    '10',
    'a',
    '.',
    '..',
    '',
    'input',
    'output',
    'tests',
    '__proto__',
    '\\',
    '\u0000',
    'é',
    ' ',
    'constructor',
  ]
  const ends = ['.in', '.out', '.ans', '.txt', '.in.in', '', '/']
  const name = () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(parts) + pick(['', '/', '1'])).join('') + pick(ends)
  let found = 0
  for (let round = 0; round < 3_000; round += 1) {
    const names = Array.from({ length: Math.floor(random() * 12) }, name)
    const manifest = random() < 0.5 ? undefined : randomManifest(random, pick, [...names, name()])
    try {
      const { cases, groups } = discover(names, {
        ...(manifest === undefined ? {} : { manifest }),
        format: pick(['auto', 'in_out_pairs', 'manifest']),
      })
      expect(new Set(cases.map((entry) => entry.name)).size).toBe(cases.length)
      expect(groups.reduce((sum, group) => sum + group.cases, 0)).toBe(cases.length)
      const files = new Set(below(...names, 'manifest.json'))
      for (const entry of cases) {
        expect(TestCase.parse(entry)).toEqual(entry)
        expect(files.has(entry.input_rel) && (entry.expected_rel === null || files.has(entry.expected_rel))).toBe(true)
      }
      found += 1
    } catch (error) {
      if (!(error instanceof TestsInvalid))
        throw new Error(`${JSON.stringify({ names, manifest })}: ${String(error)}`, { cause: error })
    }
  }
  expect(found).toBeGreaterThan(300)
})

function randomManifest(random: () => number, pick: <Item>(items: readonly Item[]) => Item, names: readonly string[]): unknown {
  const odd = () => pick<unknown>([null, 7, '', [], {}, 'x', -1, true, names[0]])
  if (random() < 0.1) return odd() ?? 'null'
  const entry = () => ({
    in: random() < 0.95 ? pick(names) : odd(),
    ...(random() < 0.3 ? { out: pick([pick(names), null]) } : {}),
    ...(random() < 0.2 ? { name: pick(['a', 'b', '__proto__', odd()]) } : {}),
    ...(random() < 0.2 ? { group: pick(['g', 'h', '__proto__', 'constructor']) } : {}),
  })
  return {
    cases: random() < 0.95 ? Array.from({ length: Math.floor(random() * 3) }, entry) : odd(),
    ...(random() < 0.2
      ? { groups: pick<unknown>([{ g: { points: 1 } }, [{ name: 'g', points: 1 }], { constructor: {} }, odd()]) }
      : {}),
    ...(random() < 0.1 ? { checker: pick<unknown>(['a.cpp', { file: pick(names) }, odd()]) } : {}),
  }
}

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
