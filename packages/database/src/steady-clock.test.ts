import { expect, test } from 'vitest'
import { SteadyClock } from './steady-clock.ts'

const HOUR_MS = 3_600_000

function openClock() {
  const machine = { steady: 5_000, uptime: 9_000 }
  const clock = new SteadyClock({ steady: () => machine.steady, uptime: () => machine.uptime }, 1_000_000)
  const pass = (ms: number): void => {
    machine.steady += ms
    machine.uptime += ms
  }
  return { clock, machine, pass }
}

test('it goes by the steady clock from one reading', () => {
  const { clock, pass } = openClock()
  expect(clock.now()).toBe(1_000_000)
  pass(1_234)
  expect(clock.now()).toBe(1_001_234)
})

test.each([
  ['forward', HOUR_MS, 1_100],
  ['back', -HOUR_MS, 900],
])('a time that is set %s by an hour is approached, not taken over', (_, step, inOneSecond) => {
  const { clock, pass } = openClock()
  clock.follow(1_000_000 + step)
  expect(clock.now()).toBe(1_000_000)
  pass(1_000)
  expect(clock.now()).toBe(1_000_000 + inOneSecond)
  pass(12 * HOUR_MS)
  expect(clock.now()).toBe(1_001_000 + 12 * HOUR_MS + step)
  expect(clock.aheadMs).toBe(0)
})

test('it never goes back', () => {
  const { clock, pass } = openClock()
  let last = clock.now()
  for (const reading of [0, 2_000_000, 5, 1_000_000]) {
    clock.follow(reading)
    for (let round = 0; round < 50; round += 1) {
      pass(7)
      const now = clock.now()
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
  }
})

test('the time for which the machine slept has passed', () => {
  const { clock, machine } = openClock()
  machine.uptime += HOUR_MS
  clock.follow(1_000_000 + HOUR_MS)
  expect(clock.now()).toBe(1_000_000 + HOUR_MS)
})
