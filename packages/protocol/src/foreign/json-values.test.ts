import { expect, test } from 'vitest'
import { beyondBounds, FOREIGN_BOUNDS, holdsAtMost, parseForeign } from './json-values.ts'

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

test.each([
  ['[[1],[2]]', 2],
  ['{"a":{"b":[]},"c":{}}', 3],
  ['["[[[{{{",{"\\"[":1}]', 2],
])('%s nests %i levels deep', (text, depth) => {
  expect(() => JSON.parse(text)).not.toThrow()
  const within = (nestingDepth: number): unknown => beyondBounds(text.padEnd(100), { messageValues: 100, nestingDepth })
  expect([within(depth), within(depth - 1)]).toEqual([undefined, `it nests deeper than ${depth - 1} levels`])
})

test('what somebody else says is not parsed where it holds too much', () => {
  const { messageValues, nestingDepth } = FOREIGN_BOUNDS
  expect(parseForeign('{"a":[1]}')).toEqual({ a: [1] })
  expect(parseForeign('[1')).toBeUndefined()
  expect(parseForeign(`[${'1,'.repeat(messageValues)}1]`)).toBeUndefined()
  expect(parseForeign('['.repeat(nestingDepth + 1) + ']'.repeat(nestingDepth + 1))).toBeUndefined()
})
