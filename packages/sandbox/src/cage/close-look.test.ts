import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

// A close look at many that have much in common takes long and is not taken again soon.
test.each([
  ['takes memory', 'shared-then-more'],
  ['writes to what it has in common with others', 'shared-then-written'],
])('without a cgroup, who makes itself slow to look at and then %s is looked at again', async (_, what) => {
  const sandbox = await from.open({ tier: 'user-namespaces', runFolder: join(from.folder, what) })
  await using box = await sandbox.openBox({ kind: 'judge' })
  const outcome = await box.run(
    from.request('uses', [what, 100, 100], { memoryBytes: 256 * MIB, processes: 110, wallMs: 60_000, cpuMs: 20_000 }),
  )
  expect([outcome.status, textOf(outcome)]).toEqual(['memory-limit', ''])
})

test('without a cgroup, who has much in common with many others and takes no more is left alone', async () => {
  const sandbox = await from.open({ tier: 'user-namespaces', runFolder: join(from.folder, 'same') })
  await using box = await sandbox.openBox({ kind: 'judge' })
  const outcome = await box.run(from.request('uses', ['forked-same', 100, 60], { processes: 70, wallMs: 60_000, cpuMs: 20_000 }))
  expect([outcome.status, textOf(outcome)]).toEqual(['ok', 'same\n'])
})
