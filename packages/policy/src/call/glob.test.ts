import { expect, test } from 'vitest'
import { compileGlob, globOf } from './glob.ts'

test.each<[string, string, boolean]>([
  ['read_file', 'read_file', true],
  ['read_file', 'read_files', false],
  ['read_*', 'read_', true],
  ['*', '', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'acb', false],
  ['ab*ba', 'aba', false],
  ['*.ts', 'a.ts\n', false],
  ['a.c', 'abc', false],
  ['[a]', 'a', false],
  [String.raw`a\*`, 'a*', true],
  [String.raw`a\*`, 'ab', false],
  [String.raw`a\\*`, String.raw`a\b`, true],
])('%s and %j: %s', (pattern, text, expected) => {
  expect(compileGlob(pattern).matches(text)).toBe(expected)
})

test('a text made to a pattern matches itself and nothing else', () => {
  for (const text of ['*', '\\', '\\*', 'a*b\\c', '**', 'plain', 'new\nline']) {
    const glob = compileGlob(globOf(text))
    expect(glob.literal).toBe(text)
    for (const other of ['', 'a', `${text}x`, text.replaceAll('*', 'x'), text.replaceAll('\\', ''), '\\\\', '**'])
      expect(glob.matches(other)).toBe(other === text)
  }
})

test('many stars and a long text are no matter', () => {
  const started = performance.now()
  expect(compileGlob(`${'*a'.repeat(250)}*b`).matches('a'.repeat(100_000))).toBe(false)
  expect(performance.now() - started).toBeLessThan(1_000)
})
