import { createHash } from 'node:crypto'
import type { JsonValue } from '@parley/protocol'
import { expect, test } from 'vitest'
import { callOf, TEST_CALL } from '../fixture/test-call.ts'
import { canonicalJson } from './canonical.ts'
import { digestCall, hashOf } from './digest.ts'
import type { PolicyCall } from './policy-call.ts'

const digest = (parts: Partial<PolicyCall>): string => {
  const made = digestCall(callOf(parts))
  return made.kind === 'digest' ? made.digest : made.reason
}

test.each<[JsonValue, string]>([
  [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
  // By UTF-16 code units, as RFC 8785 has it: a surrogate pair goes before U+FB33.
  [
    { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 },
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  ],
  ['\u0007"\\/\u2028', '"\\u0007\\"\\\\/\u2028"'],
  ['\ud800', '"\\ud800"'],
])('%j is written as %s', (value, text) => {
  expect(canonicalJson(value)).toBe(text)
})

test('numbers are written as ECMAScript has them', () => {
  expect(canonicalJson([0.000001, 1e-7, -0, 4.5, 1e2, -1.25e-9])).toBe('[0.000001,1e-7,0,4.5,100,-1.25e-9]')
})

test('the hash is SHA-256 of the UTF-8 text', () => {
  for (const text of ['', 'abc', 'ä€😀', 'x'.repeat(10_000), '\u0000'])
    expect(hashOf(text)).toBe(createHash('sha256').update(text).digest('hex'))
})

test('the same call has the same digest, however it is spelled', () => {
  const first = JSON.parse('{"a": 1.0, "b": {"c": [1e2, "\\u0061"], "d": null}}') as JsonValue
  const second = JSON.parse('{"b":{"d":null,"c":[100,"a"]},"a":1}') as JsonValue
  expect(digest({ arguments: first })).toBe(digest({ arguments: second }))
  expect(digest({ arguments: { a: 1, left: undefined } })).toBe(digest({ arguments: { a: 1 } }))
  // What changes from call to call without changing what is called.
  expect(digest({ now: 1, counts: { turn: 5, hour: 5, day: 5 }, session: null, annotations: { readOnlyHint: true } })).toBe(
    digest({}),
  )
})

test('anything else has another', () => {
  const calls: Partial<PolicyCall>[] = [
    {},
    { agent: { ...TEST_CALL.agent, id: 'agt_2' } },
    { caller: { role: 'user', name: 'helper' } },
    { caller: { role: 'agent', name: 'other' } },
    { mount: null },
    { mount: 'other' },
    { mountVersion: 4 },
    { kind: 'prompt' },
    { name: 'read_files' },
    { arguments: {} },
    { arguments: [] },
    { arguments: null },
    { arguments: { path: '/src/main.ts ' } },
    { arguments: { path: ['/src/main.ts'] } },
    { arguments: { path: null } },
    { arguments: { path: 1 } },
    { arguments: { path: '1' } },
    { arguments: { path: true } },
    { arguments: { path: '\ud800' } },
    { arguments: { path: '\udc00' } },
    { arguments: { path: '\ufffd' } },
    { arguments: { path: '\\ud800' } },
    { arguments: { path: 'é' } },
    { arguments: { path: 'e\u0301' } },
    { arguments: JSON.parse('{"__proto__": {"path": "/src/main.ts"}}') as JsonValue },
  ]
  expect(new Set(calls.map(digest)).size).toBe(calls.length)
})

test('a call that cannot be told from another has none', () => {
  const beyond = 'an integer beyond 2^53 - 1 cannot be told from its neighbours: send it as a string'
  expect(digest({ arguments: { id: JSON.parse('9007199254740993') as JsonValue } })).toBe(beyond)
  expect(digest({ arguments: [Number.NaN] })).toBe('NaN is no number of JSON')
  let deep: JsonValue = []
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep]
  expect(digest({ arguments: deep })).toBe('the arguments are nested deeper than 64')
  expect(digest({ arguments: { id: Number.MAX_SAFE_INTEGER } })).toMatch(/^[0-9a-f]{64}$/)
})
