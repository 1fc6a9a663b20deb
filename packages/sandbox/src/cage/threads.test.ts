import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, SandboxOptions } from '../index.ts'
import { ROOMY, type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024
const THREADS = 64

type Way = Pick<SandboxOptions, 'driver' | 'tier'>
const WAYS: readonly Way[] = [
  ...(process.getuid?.() === 0 ? [{ driver: 'cage', tier: 'root' } as const] : []),
  { driver: 'cage', tier: 'user-namespaces' },
  { driver: 'cage', tier: 'landlock' },
  ...(existsSync('/usr/bin/bwrap') ? [{ driver: 'bwrap' } as const] : []),
  { driver: 'none' },
]
const PYTHON = `import threading
all_there = threading.Barrier(${THREADS} + 1)
threads = [threading.Thread(target=all_there.wait) for _ in range(${THREADS})]
for thread in threads: thread.start()
all_there.wait()
for thread in threads: thread.join()
print(len(threads))`

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

// The C library gives every thread a stack as large as the main thread's may become, which is nearly all of the memory.
describe.each(WAYS)('in $driver $tier', (way) => {
  let box: Box
  beforeAll(async () => {
    const sandbox = await from.open({ ...way, runFolder: join(from.folder, `run-${way.driver}-${way.tier}`) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  describe.each([64, 256, 1024])('with %i MiB', (mib) => {
    const limits: Partial<RunLimits> = { memoryBytes: mib * MIB, processes: THREADS + 8 }

    test('a program has many threads', async () => {
      const outcome = await box.run(from.request('uses', ['threads', THREADS], limits))
      expect([outcome.status, textOf(outcome)]).toEqual(['ok', `${THREADS}\n`])
    })

    test('and so has one in Python', async () => {
      const outcome = await box.run({ argv: ['/usr/bin/python3', '-c', PYTHON], limits: { ...ROOMY, ...limits } })
      expect([outcome.status, textOf(outcome)]).toEqual(['ok', `${THREADS}\n`])
    })
  })

  // Root gives each run a user of its own, and in a namespace only the run's own count.
  test.runIf(process.getuid?.() !== 0)('whatever else its user starts meanwhile takes no thread from it', async () => {
    const slowly = PYTHON.replace('thread.start()', 'thread.start(); time.sleep(0.02)').replace('import', 'import time,')
    const running = box.run({ argv: ['/usr/bin/python3', '-c', slowly], limits: { ...ROOMY, processes: THREADS + 8 } })
    const others: ChildProcess[] = Array.from({ length: 60 }, () => spawn('sleep', ['1000'], { stdio: 'ignore' }))
    const outcome = await running
    for (const other of others) other.kill('SIGKILL')
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', `${THREADS}\n`])
  })

  test('the main thread goes as deep as there is memory', async () => {
    // A call takes a little more than a thousand bytes.
    const outcome = await box.run(from.request('uses', ['recurse', 180_000], { memoryBytes: 256 * MIB, cpuMs: 20_000 }))
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', '1\n'])
  })
})
