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
    new Map(accounts.map(([ranMs, waitedMs], index) => [index + 1, { ranMs, waitedMs, times: 1, isReady: false }]))
  const SPENT = { cpuMs: 100, elapsedMs: 1_000 }

  test.each([
    ['it waited for others', tasks([100, 700]), 700],
    ['it waited for nobody', tasks([100, 0]), 0],
    ['it waited for its own children', tasks([10, 80]), 0],
    ['its threads took turns on one processor', tasks([50, 50], [50, 50]), 0],
    ['its threads waited for others, one after the other', tasks([50, 350], [50, 350]), 600],
    ['a thread slept meanwhile', tasks([100, 700], [0, 1]), 700],
  ])('%s', (_how, accounts, starved) => {
    expect(new Starving().add(accounts, SPENT)).toEqual({ ms: starved, waitsStill: false })
  })

  test('is never longer than the clock has run', () => {
    const crowd = tasks(...Array.from({ length: 32 }, () => [0, 900] as const))
    expect(new Starving().add(crowd, { cpuMs: 0, elapsedMs: 1_000 }).ms).toBe(1_000)
  })

  test('is added up from look to look: tasks end, others get their numbers, and each look counts by itself', () => {
    const starving = new Starving()
    expect(starving.add(tasks([100, 500]), SPENT).ms).toBe(500)
    expect(starving.add(tasks(), SPENT).ms).toBe(500)
    expect(starving.add(tasks([0, 150]), SPENT).ms).toBe(650)
    // It waited for 50 ms, in which others of the program ran for no more than 20.
    expect(starving.add(tasks([10, 200]), { ...SPENT, cpuMs: 130 }).ms).toBe(680)
  })

  test('who could run at two looks and got nowhere between them waits still, for all that anybody knows since its start', () => {
    const ready = (ranMs: number, times: number): ReadonlyMap<number, TaskAccount> =>
      new Map([[1, { ranMs, waitedMs: 0, times, isReady: true }]])
    const look = (elapsedMs: number, cpuMs = 0): { readonly cpuMs: number; readonly elapsedMs: number } => ({ cpuMs, elapsedMs })
    const kept = new Starving()
    expect(kept.add(ready(0, 0), look(1_000))).toEqual({ ms: 0, waitsStill: true })
    expect(kept.add(ready(0, 0), look(1_200))).toEqual({ ms: 1_200, waitsStill: true })
    // It was given a processor, and from here on the kernel's own count holds.
    expect(kept.add(ready(1, 1), look(1_400, 1))).toEqual({ ms: 0, waitsStill: false })
    const running = new Starving()
    expect(running.add(ready(100, 5), look(1_000))).toEqual({ ms: 0, waitsStill: true })
    expect(running.add(ready(300, 5), look(1_200, 200))).toEqual({ ms: 0, waitsStill: false })
  })
})
