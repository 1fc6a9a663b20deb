import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunStatus, SandboxOptions } from '../index.ts'
import { type Scratch, scratch } from '../testing/scratch.ts'

// A limit meets a child first, and the program, seeing its child die, says so and ends by itself with a code: so does a compiler's
// driver. What the box counted names the end all the same.

let from: Scratch

beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

type Way = Pick<SandboxOptions, 'driver' | 'tier'>
const asRoot = process.getuid?.() === 0
const CAGES: readonly Way[] = [
  ...(asRoot ? [{ driver: 'cage', tier: 'root' } as const] : []),
  { driver: 'cage', tier: 'user-namespaces' },
  { driver: 'cage', tier: 'landlock' },
]
/** They look every 10 ms and count nothing between: only what goes on until it is ended is sure to be seen. */
const WATCHED: readonly Way[] = [...(existsSync('/usr/bin/bwrap') ? [{ driver: 'bwrap' } as const] : []), { driver: 'none' }]

const ENDLESS: readonly [string, (string | number)[], Partial<RunLimits>, RunStatus][] = [
  ['takes memory without end', ['malloc'], {}, 'memory-limit'],
  ['spins', ['spin', 60_000], { cpuMs: 300 }, 'cpu-limit'],
  ['has too many children', ['forked-spin', 40, 60_000], { processes: 10 }, 'process-limit'],
]
const BRIEF: typeof ENDLESS = [
  ['takes too much memory and dies', ['hogs-and-dies', 200], {}, 'memory-limit'],
  ['spins for too long and dies', ['spins-and-dies', 400], { cpuMs: 300 }, 'cpu-limit'],
  ['is refused a child', ['forks-all', 20], { processes: 8 }, 'process-limit'],
]

describe.each([
  ...CAGES.map((way) => ({ ...way, ends: [...ENDLESS, ...BRIEF] })),
  ...WATCHED.map((way) => ({ ...way, ends: ENDLESS })),
])('a child in $driver $tier', ({ ends, ...way }) => {
  let box: Box
  beforeAll(async () => {
    box = await (
      await from.open({ ...way, runFolder: join(from.folder, `run-${way.driver}-${way.tier}`) })
    ).openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  test.each(ends)('that %s', async (_, words, limits, status) => {
    const outcome = await box.run(from.request('uses', ['child', ...words], limits))
    expect(outcome).toMatchObject({ status, exitCode: null, signal: 'SIGKILL' })
  })

  test('that dies by itself within every limit is the program’s own affair', async () => {
    const outcome = await box.run(from.request('uses', ['child', 'signal', 9]))
    expect(outcome).toMatchObject({ status: 'nonzero', exitCode: 1, signal: null })
    expect(Buffer.from(outcome.stderr.bytes).toString()).toBe('fatal error: the child ended with status 9\n')
  })
})
