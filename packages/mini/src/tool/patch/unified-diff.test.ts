import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seeded } from '../../fixture/random.ts'
import { lineDiff } from './line-diff.ts'
import { unifiedDiff } from './unified-diff.ts'

test('a diff has hunks with three lines around each change', () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`)
  const after = before.with(1, 'two\n').toSpliced(16, 1)
  expect(unifiedDiff(before.join(''), after.join(''))).toBe(
    '@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -14,7 +14,6 @@\n 14\n 15\n 16\n-17\n 18\n 19\n 20\n',
  )
})

test('files that come, go, or lose their last newline', () => {
  expect(unifiedDiff(null, 'a\nb\n')).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n')
  expect(unifiedDiff('a\n', null)).toBe('@@ -1 +0,0 @@\n-a\n')
  expect(unifiedDiff('a\n', 'a')).toBe('@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n')
  expect(unifiedDiff('a\n', 'a\n')).toBe('')
})

test('a diff is as short as can be', () => {
  expect(
    lineDiff(Array.from('abcabba'), Array.from('cbabac')).reduce(
      (sum, { from, to, newFrom, newTo }) => sum + to - from + newTo - newFrom,
      0,
    ),
  ).toBe(5)
})

test('two long files with nothing in common are one replacement', () => {
  const lines = (mark: string): string[] => Array.from({ length: 5_000 }, (_, index) => `${mark}${index}`)
  expect(lineDiff(lines('a'), lines('b'))).toEqual([{ from: 0, to: 5_000, newFrom: 0, newTo: 5_000 }])
})

test('git makes the new file of the old one with it, 60 times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-diff-'))
  try {
    for (let seed = 1; seed <= 60; seed++) {
      const random = seeded(seed)
      const version = (): string =>
        Array.from({ length: 1 + random.below(30) }, () => `${random.pick(['a', 'b', 'c', 'ü', ''])}\n`).join('')
      const cut = (text: string): string => (random.below(3) === 0 ? text.slice(0, -1) : text)
      const [before, after] = [cut(version()), cut(version())]
      const diff = unifiedDiff(before, after)
      if (diff === '') continue
      writeFileSync(join(folder, 'f'), before)
      execFileSync('sh', ['-c', 'git apply --whitespace=nowarn -'], { cwd: folder, input: `--- a/f\n+++ b/f\n${diff}` })
      expect({ seed, text: readFileSync(join(folder, 'f'), 'utf8') }).toEqual({ seed, text: after })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
