import { describe, expect, test } from 'vitest'
import { makeUpdate, wrapPatch } from '../fixture/make-patch.ts'
import { type Random, seeded } from '../../fixture/random.ts'
import { applyChunks } from './apply-chunks.ts'
import { parsePatch } from './parse-patch.ts'

function apply(content: string, body: string): string {
  const [section] = parsePatch(wrapPatch('*** Update File: f', body))
  if (section?.kind !== 'update') throw new Error('not an update')
  return applyChunks('f', content, section.chunks)
}

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('where a change goes', () => {
  test('to the lines that it quotes', () => {
    expect(apply('a\nb\nc\n', '@@\n a\n-b\n+B\n c')).toBe('a\nB\nc\n')
  })
  test('without "@@" before the first change', () => {
    expect(apply('a\nb\n', '-b\n+B')).toBe('a\nB\n')
  })
  test('after the line behind "@@", of several equal places', () => {
    const file = 'def one():\n  pass\ndef two():\n  pass\n'
    expect(apply(file, '@@ def two():\n-  pass\n+  return 2')).toBe('def one():\n  pass\ndef two():\n  return 2\n')
  })
  test('after several lines behind "@@", one within the other', () => {
    const file = 'class A\n def f\n  x\nclass B\n def f\n  x\n'
    expect(apply(file, '@@ class B\n@@  def f\n-  x\n+  y')).toBe('class A\n def f\n  x\nclass B\n def f\n  y\n')
  })
  test('also when the line behind "@@" is quoted once more', () => {
    expect(apply('a\nf()\n  x\n', '@@ f()\n f()\n-  x\n+  y')).toBe('a\nf()\n  y\n')
  })
  test('whatever line numbers a habit from diff puts behind "@@"', () => {
    expect(apply(lines(5), '@@ -40,2 +40,2 @@\n line 2\n-line 3\n+three')).toBe('line 1\nline 2\nthree\nline 4\nline 5\n')
  })
  test('to the end with "End of File", though the same stands earlier', () => {
    expect(apply('x\ny\nx\n', '@@\n-x\n+z\n*** End of File')).toBe('x\ny\nz\n')
  })
  test('to the end, before empty lines there', () => {
    expect(apply('x\ny\nx\n\n', '@@\n-x\n+z\n*** End of File')).toBe('x\ny\nz\n\n')
  })
  test('nothing but additions: behind the line of "@@", or to the end', () => {
    expect(apply('a\nb\n', '@@ a\n+new')).toBe('a\nnew\nb\n')
    expect(apply('a\nb\n', '@@\n+new')).toBe('a\nb\nnew\n')
    expect(apply('', '+new')).toBe('new\n')
  })
  test('near each other, with the lines between quoted twice', () => {
    expect(apply('a\nb\nc\n', '@@\n-a\n+A\n b\n@@\n b\n-c\n+C')).toBe('A\nb\nC\n')
  })
  test('one after the other', () => {
    expect(apply('x\nx\nx\n', '@@\n-x\n+1\n@@\n-x\n+2')).toBe('1\n2\nx\n')
  })
})

describe('what may differ between the patch and the file', () => {
  test('blanks at the end and around; the quoted line stays as the file has it', () => {
    expect(apply('  a  \nb\n', '@@\n a\n-b\n+B')).toBe('  a  \nB\n')
  })
  test('dashes, quotes and wide blanks', () => {
    expect(apply('say “hi” – it’s\u00a0me\nb\n', '@@\n say "hi" - it\'s me\n-b\n+B')).toBe('say “hi” – it’s\u00a0me\nB\n')
  })
  test('an exact place is taken before one that only looks alike', () => {
    expect(apply(' x\nx\n', '@@\n-x\n+y')).toBe(' x\ny\n')
  })
  test('empty lines that part the changes', () => {
    expect(apply('a\nb\nc\n', '@@\n-a\n+A\n\n@@\n-c\n+C\n')).toBe('A\nb\nC\n')
  })
  test('ends of lines: new lines end as the file does', () => {
    expect(apply('a\r\nb\r\n', '@@\n a\n-b\n+B\n+C')).toBe('a\r\nB\r\nC\r\n')
  })
  test('a mark at the beginning of the file', () => {
    expect(apply('\uFEFFa\nb\n', '@@\n-a\n+A')).toBe('\uFEFFA\nb\n')
  })
  test('no newline at the end: what is not touched stays so', () => {
    expect(apply('a\nb', '@@\n-a\n+A')).toBe('A\nb')
    expect(apply('a\nb', '@@\n b\n+c')).toBe('a\nb\nc\n')
  })
})

describe('what the model reads when it does not fit', () => {
  test('which change, what was looked for, and the nearest lines', () => {
    const file = 'alpha\nfunction sum(a, b) {\n  return a + b\n}\nomega\n'
    expect(() => apply(file, '@@\n-alpha\n+ALPHA\n@@\n function sum(a, b) {\n-  return a - b\n+  return 0')).toThrow(
      'change 2 of 2 in f (line 6 of the patch): these lines are not in the file:\n  function sum(a, b) {\n    return a - b\nThe nearest lines of the file are:\n     1\talpha\n     2\tfunction sum(a, b) {\n     3\t  return a + b\n     4\t}',
    )
  })
  test('a line that only looks like one', () => {
    expect(() => apply('let total = compute(items)\n', '@@\n-let total = compute(item)\n+x')).toThrow(
      '     1\tlet total = compute(items)',
    )
  })
  test('a line behind "@@" that is not there', () => {
    expect(() => apply('a\n', '@@ nowhere at all\n-a')).toThrow(
      'there is no line "nowhere at all" ("@@") after line 0 of the file',
    )
  })
  test('changes in the wrong order', () => {
    expect(() => apply('a\nb\nc\n', '@@\n-c\n+C\n@@\n-a\n+A')).toThrow(
      'its lines stand at line 1, which is before the change before it',
    )
  })
  test('not at the end', () => {
    expect(() => apply('a\nb\n', '@@\n-a\n+A\n*** End of File')).toThrow('these lines do not stand at the end of the file')
  })
})

describe('any edit, as a patch', () => {
  const cases = Array.from({ length: 800 }, (_, seed) => seed)
  const unequal = (random: Random, count: number): string[] =>
    Array.from(
      { length: count },
      (_, index) => `${random.pick(['', '  ', '\t'])}${random.pick(WORDS)} ${index}_${random.below(1e6)}`,
    )
  const WORDS = ['let', 'größe', 'if (x) {', '}', '*** not a marker', '@@', '+', '-', '…', '"q"']

  function edited(random: Random, before: readonly string[]): string[] {
    const after = [...before]
    for (let edit = 1 + random.below(5); edit > 0; edit--) {
      const at = random.below(after.length + 1)
      after.splice(at, random.below(4), ...unequal(random, random.below(4)))
    }
    return after
  }

  test('gives the other version, 800 times', () => {
    for (const seed of cases) {
      const random = seeded(seed)
      const before = unequal(random, 1 + random.below(60))
      const after = edited(random, before)
      if (before.join('\n') === after.join('\n')) continue
      const quote = random.pick([
        (line: string) => line,
        (line: string) => `${line}  `,
        (line: string) => line.replaceAll('"', '“'),
      ])
      const end = random.pick(['\n', '\r\n'] as const)
      const patch = makeUpdate('f', before, after, { context: 1 + random.below(3), quote })
        .split('\n')
        .slice(1)
        .join('\n')
      const whole = (all: readonly string[]): string => all.map((line) => line + end).join('')
      expect({ seed, result: apply(whole(before), patch) }).toEqual({ seed, result: whole(after) })
    }
  })
})
