import { expect, test } from 'vitest'
import { MaskedStream, maskedBytes } from './masked-stream.ts'

const SECRET = 'abcabd'
const masked = (pieces: readonly string[]): string => {
  const stream = new MaskedStream(SECRET)
  return [...pieces.map((piece) => stream.push(Buffer.from(piece)).toString()), stream.end().toString()].join('')
}

test.each([
  ['nothing of it', 'xyz', 'xyz'],
  ['it alone', SECRET, '••••'],
  ['it twice, and a beginning before', `abcabc${SECRET}${SECRET}abca-`, 'abcabc••••••••abca-'],
  ['one that begins within another beginning', 'abcabcabd!', 'abc••••!'],
  ['most of it at the end', 'x abcab', 'x ••••'],
  ['a little of it at the end', 'x ab', 'x ab'],
])('%s, in one piece and letter by letter', (_what, text, expected) => {
  expect(masked([text])).toBe(expected)
  expect(masked(text.split(''))).toBe(expected)
  expect(Buffer.from(maskedBytes(Buffer.from(text), SECRET)).toString()).toBe(expected)
})
