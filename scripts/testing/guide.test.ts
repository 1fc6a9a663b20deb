import { expect, test } from 'vitest'
import { applyDiff } from './guide.ts'

test('a step that does not fit the code any more is noticed', () => {
  expect(() => applyDiff('a\nb\n', [' x', '+y'])).toThrow('found 0 times instead of once')
  expect(() => applyDiff('a\na\n', [' a', '+y'])).toThrow('found 2 times instead of once')
  expect(applyDiff('a\nb\nc\n', [' a', '-b', '+B', ' c'])).toBe('a\nB\nc\n')
})
