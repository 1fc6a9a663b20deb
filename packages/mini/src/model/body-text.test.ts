import type { JsonObject, JsonValue } from '@parley/protocol'
import { expect, test } from 'vitest'
import { bodyText } from './body-text.ts'

const item = (text: string): JsonObject => ({ type: 'message', content: [{ type: 'input_text', text }], gone: undefined })

test('the text of a body is what JSON says, whatever was sent before', () => {
  const [one, other, long] = [item('"ü\u2028\ud800'), item('two'), item('x'.repeat(1_100_000))]
  const parts = { model: 'm', 'a "name"': null, absent: undefined, nested: { list: [1, { two: [] }] }, empty: [] }
  const inputs: JsonValue[][] = [
    [one],
    [one, other],
    [one, other, other, 'text'],
    [one, other, other, 'text'],
    // Shorter, then different in the middle, then in another order.
    [one, other],
    [one, item('three'), other],
    [other, one, one],
    [one, long, other],
    [one, long, other, other],
    [one, { ...other, more: 1 }],
    ['text', 1, null, false, [one]],
    [[one], 1],
  ]
  const growing: JsonValue[] = [one, other]
  for (const input of [...inputs, growing, growing]) {
    const body = { ...parts, input, stream: true }
    expect(bodyText(body)).toBe(JSON.stringify(body))
    if (input === growing) input.push(long)
  }
})
