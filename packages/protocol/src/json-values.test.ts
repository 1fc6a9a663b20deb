import { expect, test } from 'vitest'
import { holdsAtMost } from './json-values.ts'

/** The least limit within which a text is. */
function valuesIn(text: string): number {
  let limit = 1
  while (!holdsAtMost(text.padEnd(1_000), limit)) limit += 1
  return limit
}

test.each([
  ['1', 1],
  ['"a"', 1],
  ['[1,2,3]', 4],
  ['{"a":1,"b":[2]}', 4],
  ['[[],[]]', 5],
  ['["a,b[{","\\",[","\\\\",1]', 5],
  [`["${'x'.repeat(100)},,","${'y'.repeat(100)}\\",,",2]`, 4],
  [`["${'x'.repeat(40)}\\\\",2]`, 3],
])('%s holds %i values', (text, values) => {
  expect(() => JSON.parse(text)).not.toThrow()
  expect(valuesIn(text)).toBe(values)
})

test('a text that is no JSON has an end, too', () => {
  for (const text of ['"', '"\\', `"${'x'.repeat(100)}`, `"${'x'.repeat(100)}\\"`, '"a""b""c"'])
    expect(holdsAtMost(text, 1)).toBe(true)
})
