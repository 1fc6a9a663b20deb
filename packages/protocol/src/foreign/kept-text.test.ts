import { expect, test } from 'vitest'
import { keptText } from './kept-text.ts'

test('a long text is cut, and in no case in the middle of a character', () => {
  expect(keptText('short', 5)).toBe('short')
  expect(keptText('longer "text"', 8)).toBe('longer "…')
  expect(keptText('a😀b', 2)).toBe('a\ufffd…')
})
