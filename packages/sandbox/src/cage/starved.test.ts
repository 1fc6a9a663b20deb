import { describe, expect, test } from 'vitest'
import { Starving, type TaskAccount } from '../starved.ts'
import { scratch, shell } from '../testing/scratch.ts'
import { starvedIn } from '../testing/starved-in.ts'

starvedIn([
  ['the strongest tier', { driver: 'cage' }],
  ['no sandbox', { driver: 'none' }],
])

test('a bound below the clock is refused', async () => {
  await using from = await scratch()
  await using box = await (await from.open()).openBox({ kind: 'judge' })
  await expect(box.run(shell('true', { wallMs: 400, starvedWallMs: 399 }))).rejects.toThrow(
    'limits.starvedWallMs must be a number from limits.wallMs on, or left out',
  )
})

describe('how long a program was starved', () => {
  const tasks = (...accounts: readonly (readonly [number, number])[]): ReadonlyMap<number, TaskAccount> =>
    new Map(accounts.map(([ranMs, waitedMs], index) => [index + 1, { ranMs, waitedMs }]))
  const SPENT = { cpuMs: 100, elapsedMs: 1_000 }

  test.each([
    ['it waited for others', tasks([100, 700]), 700],
    ['it waited for nobody', tasks([100, 0]), 0],
    ['it waited for its own children', tasks([10, 80]), 0],
    ['its threads took turns on one processor', tasks([50, 50], [50, 50]), 0],
    ['its threads waited for others, one after the other', tasks([50, 350], [50, 350]), 600],
    ['a thread slept meanwhile', tasks([100, 700], [0, 1]), 700],
  ])('%s', (_how, accounts, starved) => {
    expect(new Starving().add(accounts, SPENT)).toBe(starved)
  })

  test('is never longer than the clock has run', () => {
    const crowd = tasks(...Array.from({ length: 32 }, () => [0, 900] as const))
    expect(new Starving().add(crowd, { cpuMs: 0, elapsedMs: 1_000 })).toBe(1_000)
  })

  test('is added up from look to look: tasks end, others get their numbers, and each look counts by itself', () => {
    const starving = new Starving()
    expect(starving.add(tasks([100, 500]), SPENT)).toBe(500)
    expect(starving.add(tasks(), SPENT)).toBe(500)
    expect(starving.add(tasks([0, 150]), SPENT)).toBe(650)
    // It waited for 50 ms, in which others of the program ran for no more than 20.
    expect(starving.add(tasks([10, 200]), { ...SPENT, cpuMs: 130 })).toBe(680)
  })
})
