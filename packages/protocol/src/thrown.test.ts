import { expect, test } from 'vitest'
import { asError, messageOf } from './thrown.ts'

test('an error says its message, and anything else what it is as text', () => {
  expect([new TypeError('no such thing'), 'as it is', 7, undefined].map((thrown) => messageOf(thrown))).toEqual([
    'no such thing',
    'as it is',
    '7',
    'undefined',
  ])
})

test('an error is thrown on as it is, and anything else becomes one', () => {
  const error = new TypeError('no such thing')
  expect(asError(error)).toBe(error)
  expect(asError('as it is')).toEqual(new Error('as it is'))
})
