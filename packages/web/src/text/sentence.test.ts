import { expect, test } from 'vitest'
import { sentence } from './sentence.ts'

test.each([
  ['the user name or the password is wrong', 'The user name or the password is wrong.'],
  ['The gateway does not answer. Is it running?', 'The gateway does not answer. Is it running?'],
  ['3 judges were lost.', '3 judges were lost.'],
  ['', ''],
])('a sentence begins with a capital and ends: %s', (words, said) => {
  expect(sentence(words)).toBe(said)
})
