import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { settlesWithin, unlessAborted, within } from './bounded-wait.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = new Promise<string>(() => {})

test('what comes in time is given, a failure too, and no timer is left', async () => {
  expect(await within(Promise.resolve('here'), 1_000)).toBe('here')
  await expect(within(Promise.reject(new Error('broken')), 1_000)).rejects.toThrow('broken')
  expect(vi.getTimerCount()).toBe(0)
})

test('what takes longer is not waited for, and its failure harms nobody', async () => {
  const work = Promise.withResolvers<string>()
  const waits = [within(work.promise, 1_000), within(work.promise, 1_000, 'late')]
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await Promise.all(waits)).toEqual([undefined, 'late'])
  work.reject(new Error('nobody hears this'))
  await vi.advanceTimersByTimeAsync(1_000)
})

test('settled is settled, well or badly', async () => {
  const waits = [Promise.resolve(), Promise.reject(new Error('broken')), never].map((work) => settlesWithin(work, 1_000))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await Promise.all(waits)).toEqual([true, true, false])
})

test('a signal ends the wait with its reason or with the one that is given', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const waits = [unlessAborted(never, signal), unlessAborted(never, signal, () => new Error('given up'))]
  controller.abort(new Error('closing'))
  expect(await Promise.allSettled(waits)).toMatchObject([{ reason: { message: 'closing' } }, { reason: { message: 'given up' } }])
  await expect(unlessAborted(never, signal)).rejects.toThrow('closing')
})

test('without an abort it is as if there were no signal, and nothing listens to it any longer', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve('here'), signal)).toBe('here')
  expect(await unlessAborted(Promise.resolve('here'), undefined)).toBe('here')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
