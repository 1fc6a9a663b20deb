import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunOutcome, Sandbox } from '../index.ts'
import { type Scratch, scratch, textOf } from '../testing/scratch.ts'

const MIB = 1024 * 1024
/** Whoever is to be ended keeps what it has until then. */
const HELD_S = 50
/** What the report says that nobody sees at worst. */
const UNSEEN_MIB = 10
const TIERS = (['root', 'user-namespaces', 'landlock'] as const).slice(process.getuid?.() === 0 ? 0 : 1)
const LIMITS = { memoryBytes: 64 * MIB, openFiles: 1024, cpuMs: 20_000, wallMs: 60_000 }

let from: Scratch
beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

describe.each(TIERS)('memory that is in no process’s size, in the tier %s', (tier) => {
  let sandbox: Sandbox
  let box: Box
  beforeAll(async () => {
    sandbox = await from.open({ tier, runFolder: join(from.folder, tier) })
    box = await sandbox.openBox({ kind: 'judge' })
  })
  afterAll(() => box.close())

  const keeps = (what: string, processes: number): Promise<RunOutcome> =>
    box.run(from.request('buffers', [what, processes, what.startsWith('sent') ? 1 : HELD_S], LIMITS))

  test.each(['sockets', 'pipes', 'tables', 'mappings'])('ends a run that keeps too much in %s', async (what) => {
    const outcome = await keeps(what, 24)
    expect([outcome.status, outcome.memoryBytes]).toEqual(['memory-limit', 64 * MIB])
  })

  test.each(['sent', 'sent-pipes'])('is bounded where what holds it is in nobody’s hands (%s)', async (what) => {
    const outcome = await keeps(what, 8)
    const isCounted = sandbox.report.tier.includes('cgroup')
    if (outcome.status !== 'memory-limit') expect(Number(textOf(outcome))).toBeLessThanOrEqual(UNSEEN_MIB)
    if (isCounted && what === 'sent') expect(outcome.status).toBe('memory-limit')
    if (!isCounted) expect(sandbox.report.missing.join()).toContain(`${UNSEEN_MIB} MiB are not seen`)
  })

  test('ends a run that keeps too much in lists of what to wait for', async () => {
    const limits = { ...LIMITS, memoryBytes: 32 * MIB, openFiles: 256 }
    const outcome = await box.run(from.request('buffers', ['lists', 30, HELD_S], limits))
    expect([outcome.status, outcome.memoryBytes]).toEqual(['memory-limit', 32 * MIB])
  })

  test('takes nothing from whoever has many files, or a few sockets', async () => {
    const files = await box.run(from.request('uses', ['files'], { ...LIMITS, memoryBytes: 16 * MIB }))
    expect([files.status, Number(textOf(files)) > 200]).toEqual(['ok', true])
    const talk =
      'import socket; kept = [socket.socketpair() for i in range(10)]; [a.send(b"x" * 9000) for a, b in kept]; print(len(kept))'
    const outcome = await box.run({
      argv: ['/usr/bin/python3', '-c', talk],
      limits: { ...from.request('uses', []).limits, ...LIMITS },
    })
    expect([outcome.status, textOf(outcome)]).toEqual(['ok', '10\n'])
  })
})
