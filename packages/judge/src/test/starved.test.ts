import { describe, expect, test } from 'vitest'
import { type ClockedRun, starvedWords, wasStarved } from '../box/starved.ts'
import { endVerdict } from './verdict.ts'

describe('what the clock says', () => {
  const nothing = { bytes: new Uint8Array(), totalBytes: 0 }
  const run = (wallMs: number, starvedMs: number | null, partnerStarvedMs = 0): ClockedRun => ({
    clockMs: 2_400,
    partnerStarvedMs,
    outcome: {
      status: 'wall-limit',
      exitCode: null,
      signal: 'SIGKILL',
      cpuMs: 40.4,
      wallMs,
      starvedMs,
      memoryBytes: 0,
      stdout: nothing,
      stderr: nothing,
      kept: [],
      message: null,
    },
  })
  const limits = { timeMs: 400, memoryMb: 1, memoryBytes: 1, outputBytes: 1, processes: 1 }

  test.each([
    ['idle', run(2_401, 0), 'no end within 2400 ms, 40 ms of them at work'],
    ['idle, where the kernel does not count', run(2_401, null), 'no end within 2400 ms, 40 ms of them at work'],
    [
      'idle, whoever it talked with was kept waiting for a while',
      run(2_401, 0, 1_199),
      'no end within 2400 ms, 40 ms of them at work',
    ],
    [
      'idle, and kept waiting before',
      run(3_402, 1_000),
      'no end within 2400 ms, 40 ms of them at work, 1000 ms of waiting for a processor not counted',
    ],
  ])('%s', (_what, ended, message) => {
    expect(wasStarved(ended)).toBe(false)
    expect(endVerdict(ended, limits, [])).toEqual({ verdict: 'ILE', message })
  })

  test.each([
    [
      'it was kept waiting to the bound',
      run(12_001, 11_000),
      'it waited 11000 of 12001 ms for a processor: this machine is too busy to tell',
    ],
    [
      'whoever it talked with was kept waiting',
      run(2_401, 0, 1_200),
      'it waited for the interactor, and that for a processor, for 1200 ms: this machine is too busy to tell',
    ],
  ])('nothing is known about a program when %s', (_why, ended, message) => {
    expect(wasStarved(ended)).toBe(true)
    expect(starvedWords(ended)).toBe(message)
    expect(endVerdict(ended, limits, [])).toEqual({ verdict: 'SE', message })
  })
})
