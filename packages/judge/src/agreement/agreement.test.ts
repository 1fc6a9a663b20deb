import { openSandbox } from '@parley/sandbox'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CAGE_CACHE } from '../fixture/cage-cache.ts'
import { judge, verdictsOf, writeCases } from '../hostile/fixture/job.ts'
import { openTester } from '../index.ts'
import type { Tester } from '../tester.ts'
import { PROGRAM_SET, type SetProgram } from './dialect.ts'
import { MORE_PROGRAMS } from './more-languages.ts'
import { type BareTools, bareVerdicts, openBareTools } from './fixture/bare.ts'
import { inParallel } from './fixture/in-parallel.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/agreement')
const SMALL = [3, 1, 2]
const LARGE = [12, 30, 7, 7, 100, 42, 9, 64, 8, 2, 1, 55]
const TIME_MS = 500
/** A virtual machine takes longer to start than the others to end. */
const RUNTIME_TIME_MS = 3_000
const SIDE_BY_SIDE = 3
const LANGUAGES = [...new Set(PROGRAM_SET.map(({ language }) => language))]

const folder = mkdtempSync(join(tmpdir(), 'parley-agreement-'))
let tester: Tester
let tools: BareTools

beforeAll(async () => {
  tools = await openBareTools(folder, join(FIXTURES, 'bare-run.c'))
  tester = await openTester({
    sandbox: await openSandbox({
      driver: 'auto',
      cacheFolder: CAGE_CACHE,
      runFolder: join(folder, 'run'),
    }),
    cores: 2,
    cacheFolder: join(folder, 'cache'),
    searchPath: (process.env['PATH'] ?? '').split(delimiter),
    nodePath: process.execPath,
  })
})

afterAll(async () => {
  await tester?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('the set is large, and in five languages or more', () => {
  expect(LANGUAGES.length).toBeGreaterThanOrEqual(5)
  expect(new Set(PROGRAM_SET.map(({ code }) => code)).size).toBeGreaterThanOrEqual(200)
})

test.each(LANGUAGES)('%s: the judge says what a bare run says', { timeout: 240_000 }, async (language) => {
  const programs = PROGRAM_SET.filter((program) => program.language === language)
  const found = await inParallel(programs, SIDE_BY_SIDE, async (program, index) => {
    const { judged, bare } = await bothWays(program, join(folder, `${language}-${index}`))
    return { program: `${language}: ${program.name}`, judged, bare }
  })
  expect(found.filter(({ judged, bare }) => judged.join(' ') !== bare.join(' '))).toEqual([])
  // The set is worth something only if every outcome is in it.
  expect([...new Set(found.flatMap(({ bare }) => bare))].toSorted()).toEqual(['AC', 'CE', 'RE', 'TLE', 'WA'])
})

test.each(['java', 'rust'] as const)('%s, where it is installed', { timeout: 240_000 }, async (language) => {
  const isHere = tester.languages.some((facts) => facts.language === language)
  const programs = MORE_PROGRAMS.filter((program) => isHere && program.language === language)
  const found = await inParallel(programs, SIDE_BY_SIDE, async (program, index) => {
    const { judged, bare } = await bothWays(program, join(folder, `${language}-${index}`), RUNTIME_TIME_MS)
    return { program: `${language}: ${program.name}`, judged, bare }
  })
  expect(found.filter(({ judged, bare }) => judged.join(' ') !== bare.join(' '))).toEqual([])
})

async function bothWays(program: SetProgram, home: string, timeMs = TIME_MS) {
  const cases = [SMALL, LARGE].map((numbers) => ({ input: `${numbers.join(' ')}\n`, expected: `${program.answer(numbers)}\n` }))
  await writeCases(home, cases)
  const report = await judge(tester, { ...program, inputFolder: home, timeMs, memoryMb: 256, outputBytes: 1 << 20 })
  const bare = await bareVerdicts(tools, program, {
    folder: join(home, 'bare'),
    timeMs,
    cases: cases.map(({ expected }, index) => ({ inputPath: join(home, 'tests', `${index + 1}.in`), expected })),
  })
  return { judged: verdictsOf(report), bare }
}
