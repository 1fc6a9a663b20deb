import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, SandboxOptions } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

type Way = Pick<SandboxOptions, 'driver' | 'tier'>
const WAYS: readonly Way[] = [
  ...(process.getuid?.() === 0 ? [{ driver: 'cage', tier: 'root' } as const] : []),
  { driver: 'cage', tier: 'user-namespaces' },
  { driver: 'cage', tier: 'landlock' },
  ...(existsSync('/usr/bin/bwrap') ? [{ driver: 'bwrap' } as const] : []),
  { driver: 'none' },
]
const MOST = 1024
/** Enough for who behaves; where a box has no user of its own, others of that user have some too. */
const ENOUGH = 256

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

// The kernel keeps some hundred bytes for each, and frees them when their process has ended.
describe.each(WAYS)('in $driver $tier', (way) => {
  let box: Box
  beforeAll(async () => {
    const sandbox = await from.open({ ...way, runFolder: join(from.folder, `run-${way.driver}-${way.tier}`) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  test.each(['timers', 'signals'])('%s that wait are bounded', async (what) => {
    const outcome = await box.run(from.request('uses', [what, 4 * MOST]))
    expect(outcome.status).toBe('ok')
    expect(Number(textOf(outcome))).toBeGreaterThanOrEqual(ENOUGH)
    expect(Number(textOf(outcome))).toBeLessThanOrEqual(MOST)
  })
})
