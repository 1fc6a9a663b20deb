import { expect, test } from 'vitest'
import { Verdict } from './case.ts'
import { caseWallMs, memoryText, passedWallMs, pastLimit, shownInstead } from './past-limit.ts'

const LIMITS = { time_limit_ms: 2_000, memory_limit_mb: 256 }
const MIB = 1024

test('a time past its limit is said to be more than it, whenever the program was ended', () => {
  expect(pastLimit({ verdict: 'TLE', wall_ms: 6_010, memory_kb: 0 }, LIMITS)).toEqual({ time: '>2000 ms' })
  expect(pastLimit({ verdict: 'TLE', wall_ms: 6_010, memory_kb: 0 }, { ...LIMITS, time_limit_ms: 10_000 })).toEqual({
    time: '>10 s',
  })
  expect(pastLimit({ verdict: 'TLE', wall_ms: 6_010, memory_kb: 0 }, { ...LIMITS, time_limit_ms: 12_390 })).toEqual({
    time: '>12.3 s',
  })
})

test('an idle program passed the limit of the clock', () => {
  expect(caseWallMs(2_000)).toBe(6_000)
  expect(caseWallMs(100)).toBe(2_100)
  expect(pastLimit({ verdict: 'ILE', wall_ms: 6_010, memory_kb: 0 }, LIMITS)).toEqual({ time: '>6000 ms' })
  // Alone it has twice as much of it.
  expect(passedWallMs(12_001, 2_000)).toBe(12_000)
  expect(pastLimit({ verdict: 'ILE', wall_ms: 12_001, memory_kb: 0 }, LIMITS)).toEqual({ time: '>12 s' })
})

test('memory past its limit likewise; a program that was refused some had less', () => {
  expect(pastLimit({ verdict: 'MLE', wall_ms: 1, memory_kb: 256 * MIB }, LIMITS)).toEqual({ memory: '>256 MiB' })
  expect(pastLimit({ verdict: 'MLE', wall_ms: 1, memory_kb: 300 * MIB }, LIMITS)).toEqual({ memory: '>256 MiB' })
  expect(pastLimit({ verdict: 'MLE', wall_ms: 1, memory_kb: 3 * MIB }, LIMITS)).toEqual({})
})

test('every other case shows what was measured', () => {
  for (const verdict of Verdict.exclude(['TLE', 'ILE', 'MLE']).options)
    expect(pastLimit({ verdict, wall_ms: 99_999, memory_kb: 512 * MIB }, LIMITS)).toEqual({})
})

test('of a case that was not run no time and no memory is shown, and of any other what it is without that', () => {
  const nothing = { wall_ms: 0, memory_kb: 0 }
  for (const verdict of ['SKIP', 'CANCELLED', 'SE'] as const)
    expect(shownInstead({ verdict, ...nothing }, undefined)).toEqual({ time: '–', memory: '–' })
  expect(shownInstead({ verdict: 'SE', wall_ms: 3, memory_kb: 9 }, LIMITS)).toEqual({})
  expect(shownInstead({ verdict: 'AC', ...nothing }, LIMITS)).toEqual({})
  expect(shownInstead({ verdict: 'TLE', wall_ms: 6_010, memory_kb: 0 }, LIMITS)).toEqual({ time: '>2000 ms' })
  expect(shownInstead({ verdict: 'TLE', wall_ms: 6_010, memory_kb: 0 }, undefined)).toEqual({})
})

test('memory is told in the unit that fits', () => {
  expect([memoryText(512), memoryText(3_200)]).toEqual(['512 KiB', '3.1 MiB'])
})
