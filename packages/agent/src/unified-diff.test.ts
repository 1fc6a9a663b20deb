import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lineDiff } from './line-diff.ts'
import { unifiedDiff } from './unified-diff.ts'

/** Small texts of few different lines, so that equal ones meet; the same on every run. */
function* texts(count: number, longest = 12): Generator<readonly [string, string]> {
  let seed = 7
  const next = (bound: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * bound)
  }
  const text = (): string => {
    const lines = Array.from({ length: next(longest) }, () => ['a', 'b', 'c', 'ü', ''][next(5)] ?? '')
    return lines.join('\n') + (lines.length > 0 && next(2) === 0 ? '\n' : '')
  }
  for (let index = 0; index < count; index += 1) yield [text(), text()]
}

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

test('no shorter way exists: as many lines change as the longest common part leaves over', () => {
  const common = (a: readonly string[], b: readonly string[]): number => {
    const table = Array.from({ length: a.length + 1 }, () => Array.from(b, () => 0).concat(0))
    for (let i = a.length - 1; i >= 0; i -= 1)
      for (let j = b.length - 1; j >= 0; j -= 1) {
        const row = table[i] ?? []
        row[j] = a[i] === b[j] ? 1 + (table[i + 1]?.[j + 1] ?? 0) : Math.max(table[i + 1]?.[j] ?? 0, table[i]?.[j + 1] ?? 0)
      }
    return table[0]?.[0] ?? 0
  }
  for (const [one, other] of texts(400)) {
    const [before, after] = [one.split('\n'), other.split('\n')]
    const found = lineDiff(before, after)
    const changed = found
      .toReversed()
      .reduce((lines, { from, to, newFrom, newTo }) => lines.toSpliced(from, to - from, ...after.slice(newFrom, newTo)), before)
    expect(changed).toEqual(after)
    const gone = found.reduce((sum, { from, to }) => sum + to - from, 0)
    expect(before.length - gone).toBe(common(before, after))
  }
})

test('git makes the new file of the old one with it, 60 times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-diff-'))
  try {
    for (const [before, after] of texts(60, 30)) {
      const diff = unifiedDiff(before, after)
      if (before === '' || after === '' || diff === '') continue
      writeFileSync(join(folder, 'f'), before)
      execFileSync('sh', ['-c', 'git apply --whitespace=nowarn -'], { cwd: folder, input: `--- a/f\n+++ b/f\n${diff}` })
      expect({ before, text: readFileSync(join(folder, 'f'), 'utf8') }).toEqual({ before, text: after })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
