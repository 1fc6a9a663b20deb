import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WorkClock } from './work-clock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('it runs from the start, and ends once', () => {
  const ends = vi.fn()
  const clock = new WorkClock(100, ends)
  expect(clock.runs).toBe(true)
  vi.advanceTimersByTime(99)
  expect(ends).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(ends).toHaveBeenCalledTimes(1)
  expect(clock.runs).toBe(false)
})

test('it stands while everything waits, and goes on where it stood', () => {
  const ends = vi.fn()
  const clock = new WorkClock(100, ends)
  vi.advanceTimersByTime(60)
  const [one, two] = [clock.waits(), clock.waits()]
  vi.advanceTimersByTime(1_000)
  one()
  one()
  vi.advanceTimersByTime(1_000)
  expect(ends).not.toHaveBeenCalled()
  two()
  vi.advanceTimersByTime(39)
  expect(ends).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(ends).toHaveBeenCalledTimes(1)
})

test('it runs while one part goes on, however many wait', () => {
  const ends = vi.fn()
  const clock = new WorkClock(100, ends)
  clock.waits()
  const letGo = clock.holds()
  vi.advanceTimersByTime(50)
  letGo()
  letGo()
  vi.advanceTimersByTime(1_000)
  expect(ends).not.toHaveBeenCalled()
  clock.holds()
  vi.advanceTimersByTime(50)
  expect(ends).toHaveBeenCalledTimes(1)
})

test('what is waited for with a bound of its own takes none of it, also when it fails', async () => {
  const ends = vi.fn()
  const clock = new WorkClock(100, ends)
  const { promise, reject } = Promise.withResolvers<void>()
  const waited = clock.waitsFor(promise)
  vi.advanceTimersByTime(1_000)
  reject(new Error('no'))
  await expect(waited).rejects.toThrow('no')
  expect(ends).not.toHaveBeenCalled()
  vi.advanceTimersByTime(100)
  expect(ends).toHaveBeenCalledTimes(1)
})

test('a clock that was stopped never ends', () => {
  const ends = vi.fn()
  const clock = new WorkClock(100, ends)
  const waited = clock.waits()
  clock.stop()
  waited()
  clock.holds()
  vi.advanceTimersByTime(1_000)
  expect(ends).not.toHaveBeenCalled()
})
