import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Box, RunLimits, RunOutcome, RunRequest, Sandbox, SandboxOptions } from '../index.ts'
import { keepBusy, lastProcessor, pinned } from './busy-processor.ts'
import { type Scratch, scratch, shell } from './scratch.ts'

/** With so many beside it a program has a ninth of a processor: its clock strikes before it is done. */
const BUSY = 8
/** Six times the processor time that any of the programs needs, and a bound that is out of reach, whoever else is at work beside it. */
const MOVED = { wallMs: 1_200, starvedWallMs: 600_000 }

/** What is tried: its name, and how the sandbox is opened. */
export type StarvedKind = readonly [string, Pick<SandboxOptions, 'driver' | 'tier'>]

/** In each of these a program that gets no processor is told from one that sleeps. */
export function starvedIn(kinds: readonly StarvedKind[]): void {
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

  describe.each(kinds.filter(([, { driver }]) => driver !== 'bwrap' || existsSync('/usr/bin/bwrap')))('%s', (_name, kind) => {
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
      const { stdout: _out, stderr: _err, ...outcome } = await run(['child', 'spin', 200], MOVED)
      expect(outcome).toMatchObject({ status: 'ok' })
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

    test('one that was never given a processor is not idle, though no kernel counts a wait that goes on', async () => {
      const clockMs = 1_000
      const request = requestOf(['spin', 1], { wallMs: clockMs, starvedWallMs: 2 * clockMs })
      const argv: [string, ...string[]] = ['/usr/bin/chrt', '--idle', '0', ...request.argv]
      const { status, wallMs, starvedMs } = await box.run({ ...request, argv })
      // In a control group of its own it has a share of the processor all the same, and ends.
      if (status === 'ok') return
      expect({ status, isStarved: wallMs - (starvedMs ?? 0) < clockMs }).toEqual({ status: 'wall-limit', isStarved: true })
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
        // What it would say back comes to nobody when the other has ended first.
        program: shell('cat >/dev/null'),
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
}
