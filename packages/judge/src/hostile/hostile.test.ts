import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIXTURES, type HostileBench, openHostileBench } from './fixture/hostile-bench.ts'
import { CLUMSY, GREEDY } from './fixture/programs-of-limits.ts'
import { BOMBS, SPIES } from './fixture/programs-of-spies.ts'

const ALL = [...GREEDY, ...CLUMSY, ...SPIES, ...BOMBS]
let bench: HostileBench

beforeAll(async () => {
  bench = await openHostileBench()
})
afterAll(() => bench?.close())

test('there are enough of them, each with a file of its own', () => {
  expect(ALL.map(({ file }) => file).sort()).toEqual(readdirSync(FIXTURES).sort())
  expect(ALL.length).toBeGreaterThanOrEqual(45)
})

// First whether a leak would be seen, last whether there was one: what stands between may come in any order.
describe('one after the other', { shuffle: false }, () => {
  test('what looks for leaks finds them where there are some', () => bench.expectLeaksAreSeen())

  describe.each([
    ['greedy', GREEDY],
    ['clumsy', CLUMSY],
    ['spying', SPIES],
    ['aimed at the compiler', BOMBS],
  ])('%s', (_kind, programs) => {
    test.each(programs.filter(({ idle }) => idle !== true))('$file: $tries', async (program) => {
      await bench.run(program)
      await bench.expectUnharmed()
    })
  })

  test('idle ones, side by side', async () => {
    await Promise.all(ALL.filter(({ idle }) => idle === true).map((program) => bench.run(program)))
    await bench.expectUnharmed()
  })

  test('nobody reached a service, and the boxes left nothing behind', () => bench.expectNothingLeft())
})
