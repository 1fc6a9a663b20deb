import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM_SET } from './fixture/dialect.ts'
import { type AgreementBench, differing, openAgreementBench, outcomesOf } from './fixture/agreement-bench.ts'
import { MORE_PROGRAMS } from './fixture/more-languages.ts'

const LANGUAGES = [...new Set(PROGRAM_SET.map(({ language }) => language))]
const WHERE_INSTALLED = [...new Set(MORE_PROGRAMS.map(({ language }) => language))]
const MANY_PROGRAMS = { timeout: 300_000 }

let bench: AgreementBench
beforeAll(async () => {
  bench = await openAgreementBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

test.each(LANGUAGES)('%s: the judge says what a bare run says', MANY_PROGRAMS, async (language) => {
  const found = await bench.bothWays(PROGRAM_SET.filter((program) => program.language === language))
  expect(differing(found)).toEqual([])
  // The set is worth something only if every outcome is in it.
  expect(outcomesOf(found)).toEqual(['AC', 'CE', 'RE', 'TLE', 'WA'])
})

test.each(WHERE_INSTALLED)('%s, where it is installed', MANY_PROGRAMS, async (language) => {
  const isHere = bench.languages.has(language)
  const found = await bench.bothWays(MORE_PROGRAMS.filter((program) => isHere && program.language === language))
  expect(differing(found)).toEqual([])
})
