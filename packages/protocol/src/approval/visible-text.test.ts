import { expect, test } from 'vitest'
import { visibleLine, visibleName, visibleText } from './visible-text.ts'

test('names that differ never look the same', () => {
  const names = [
    'make',
    'make\n',
    '\u001b[2Kmake',
    'make ',
    ' make',
    'ma ke',
    'ma  ke',
    'ma\tke',
    'ma\u00a0ke',
    'ma\u200bke',
    'ma\u00adke',
    'm\u202eake',
    'make\ufe0f',
    'make\u{e0041}',
    'm\u0430ke',
    'ｍake',
    '\u{1d426}ake',
    'ma\u0301ke',
    'máke',
    'copy',
    '\u0441\u043e\u0440\u0443',
    'a-b',
    'a\u2010b',
    'a\u2212b',
    'a/b',
    'a\u2044b',
    'm⟦U+0430⟧ke',
    'make⟦U+000A⟧',
  ]
  const shown = names.map(visibleName)
  expect(new Set(shown).size).toBe(names.length)
  // Nothing is left that a terminal could draw like anything else: ASCII, the marks, and one letter with its accent.
  for (const name of shown) expect(name).toMatch(/^[ -~⟦⟧á]*$/)
  expect([visibleName('make\n'), visibleName('m\u0430ke'), visibleName('make ')]).toEqual([
    'make⟦U+000A⟧',
    'm⟦U+0430⟧ke',
    'make⟦U+0020⟧',
  ])
})

test('names that people give stay readable', () => {
  for (const name of ['read_file', 'Grüße', 'помощник 2', '助手', 'مساعد', 'βοηθός', 'file:///a b?c=%20', 'git 🎈'])
    expect(visibleName(name)).toBe(name)
})

test('a line is one line, and a text keeps its lines', () => {
  expect(visibleLine('a\nb\t…– c  d')).toBe('a⟦U+000A⟧b⟦U+0009⟧…– c ⟦U+0020⟧d')
  expect(visibleText('a\nb\t…  \u001b[2J⟦')).toBe('a\nb\t…  ⟦U+001B⟧[2J⟦U+27E6⟧')
})
