import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM_SET } from './fixture/dialect.ts'
import { type AgreementBench, type BothWays, differing, openAgreementBench, outcomesOf } from './fixture/agreement-bench.ts'

const LANGUAGES = [...new Set(PROGRAM_SET.map(({ language }) => language))]
const NAMES = [...new Set(PROGRAM_SET.map(({ name }) => name))]
/** Each task in one language; in all of them, and in those that not every machine has: `npm run verify -- languages`. */
const DEALT = PROGRAM_SET.filter(({ name, language }) => LANGUAGES[NAMES.indexOf(name) % LANGUAGES.length] === language)

let bench: AgreementBench
beforeAll(async () => {
  bench = await openAgreementBench()
})
afterAll(() => bench?.[Symbol.asyncDispose]())

test('the set is large, and in five languages or more', () => {
  expect(LANGUAGES.length).toBeGreaterThanOrEqual(5)
  expect(new Set(PROGRAM_SET.map(({ code }) => code)).size).toBeGreaterThanOrEqual(200)
  expect(new Set(DEALT.map(({ name }) => name)).size).toBe(NAMES.length)
  expect(new Set(DEALT.map(({ language }) => language)).size).toBe(LANGUAGES.length)
})

test('each task, in one language: the judge says what a bare run says', { timeout: 240_000 }, async () => {
  const found: readonly BothWays[] = await bench.bothWays(DEALT)
  expect(differing(found)).toEqual([])
  // The set is worth something only if every outcome is in it.
  expect(outcomesOf(found)).toEqual(['AC', 'CE', 'RE', 'TLE', 'WA'])
})
