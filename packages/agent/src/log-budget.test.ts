import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogBudget } from './log-budget.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const BOUNDS = { lines: 2, chars: 20, everyMs: 1_000, lineChars: 8 }

function budget(): { logged: string[]; say: (line: string) => void } {
  const logged: string[] = []
  const one = new LogBudget((line) => logged.push(line), BOUNDS)
  return { logged, say: (line) => one.say(line) }
}

test('lines past the number are counted and told in one, and with the next time it goes on', () => {
  const { logged, say } = budget()
  for (const line of ['a', 'b', 'c', 'de']) say(line)
  expect(logged).toEqual(['a', 'b'])
  vi.advanceTimersByTime(BOUNDS.everyMs)
  say('f')
  vi.advanceTimersByTime(BOUNDS.everyMs)
  expect(logged).toEqual(['a', 'b', '2 lines of 3 characters were left out: it said too much for a log', 'f'])
})

test('a long line is cut, and what would be too many characters is left out', () => {
  const { logged, say } = budget()
  say('0123456789')
  say('012345678901234567890')
  say('x')
  expect(logged).toEqual(['01234567…', '01234567…'])
})
