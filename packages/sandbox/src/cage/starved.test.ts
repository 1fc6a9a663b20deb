import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunOutcome, RunRequest, Sandbox, SandboxOptions } from '../index.ts'
import { Starving, type TaskAccount } from '../starved.ts'
import { keepBusy, lastProcessor, pinned } from '../testing/busy-processor.ts'
import { type Scratch, scratch, shell } from '../testing/fixtures.ts'

/** With so many beside it a program has a ninth of a processor: its clock strikes before it is done. */
const BUSY = 8
/** Six times the processor time that any of the programs needs, and a bound that is out of reach. */
const MOVED = { wallMs: 1_200, starvedWallMs: 60_000 }

const KINDS: readonly [string, Pick<SandboxOptions, 'driver' | 'tier'>][] = [
  ['the strongest tier', { driver: 'cage' }],
  ['user namespaces', { driver: 'cage', tier: 'user-namespaces' }],
  ['Landlock', { driver: 'cage', tier: 'landlock' }],
  ['bubblewrap', { driver: 'bwrap' }],
  ['no sandbox', { driver: 'none' }],
]
const processor = lastProcessor()
let from: Scratch
let busy: AsyncDisposable

beforeAll(async () => {
  from = await scratch()
  busy = await keepBusy(processor, BUSY)
})
afterAll(async () => {
  await busy[Symbol.asyncDispose]()
  await from[Symbol.asyncDispose]()
})

const requestOf = (words: readonly (string | number)[], limits: Partial<RunLimits>): RunRequest => {
  const request = from.request('uses', words, limits)
  return { ...request, argv: pinned(processor, request.argv) }
}

describe.each(KINDS.filter(([, { driver }]) => driver !== 'bwrap' || existsSync('/usr/bin/bwrap')))('%s', (_name, kind) => {
  let sandbox: Sandbox
  let box: Box
  beforeAll(async () => {
    sandbox = await from.open({ ...kind, runFolder: join(from.folder, `${kind.driver}-${kind.tier ?? ''}`) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  const run = (words: readonly (string | number)[], limits: Partial<RunLimits>): Promise<RunOutcome> =>
    box.run(requestOf(words, limits))

  test('a program that waits for a processor is not idle, nor is one whose child does', async () => {
    const outcome = await run(['child', 'spin', 200], MOVED)
    expect(outcome.status).toBe('ok')
    // Its clock did strike, and was moved.
    expect(outcome.starvedMs).toBeGreaterThan(0)
    expect(sandbox.report.enforced['wall']).toBe('clock; a program that waits for a processor is not taken for idle')
  })

  test('one without end is ended by its processor time', async () => {
    expect((await run(['spin', 100_000], { ...MOVED, cpuMs: 200 })).status).toBe('cpu-limit')
  })

  test('one that sleeps is idle, and has no more of the clock than what it waited to begin with', async () => {
    const { status, wallMs, starvedMs } = await run(['sleep'], MOVED)
    expect(status).toBe('wall-limit')
    expect(wallMs - (starvedMs ?? 0)).toBeGreaterThanOrEqual(MOVED.wallMs)
    expect(wallMs).toBeLessThan(MOVED.starvedWallMs)
  })

  test('nobody gets more than the bound', async () => {
    // These would be starved for as long as anybody lets them.
    expect((await run(['feigns', 16], { wallMs: 400, starvedWallMs: 800 })).status).toBe('wall-limit')
    expect((await run(['spin', 100_000], { wallMs: 400, starvedWallMs: 401, cpuMs: 5_000 })).status).toBe('wall-limit')
  })

  test('without such a bound the clock is not moved, and nothing is looked at', async () => {
    expect(await run(['spin', 400], { wallMs: 400 })).toMatchObject({ status: 'wall-limit', starvedMs: null })
  })

  test('of two that are joined it is known how long each was starved', async () => {
    await using other = await sandbox.openBox({ kind: 'judge' })
    const { program, interactor } = await sandbox.interact(box, other, {
      program: shell('cat'),
      interactor: requestOf(['spin', 100], {}),
      captureBytes: 100,
    })
    expect([program, interactor]).toMatchObject([
      { status: 'ok', message: null },
      { status: 'ok', message: null },
    ])
    // Only the helper is there before the account of an ended process is gone; the others say that they are not.
    if (kind.driver === 'cage') expect(interactor.starvedMs).toBeGreaterThan(0)
    else expect(sandbox.report.missing.some((text) => text.includes('an interactor which is starved'))).toBe(true)
  })
})

test('a bound below the clock is refused', async () => {
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
