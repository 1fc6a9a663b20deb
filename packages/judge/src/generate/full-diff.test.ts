import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fullDiff } from './full-diff.ts'

/** Small texts of few different lines, so that equal ones meet; the same on every run. */
function* texts(count: number): Generator<readonly [string, string]> {
  let seed = 7
  const next = (bound: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * bound)
  }
  const text = (): string => {
    const lines = Array.from({ length: next(12) }, () => 'abc'[next(3)] ?? '')
    return lines.join('\n') + (lines.length > 0 && next(2) === 0 ? '\n' : '')
  }
  for (let index = 0; index < count; index += 1) yield [text(), text()]
}

test('git applies what is computed, and the result is the other text', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-diff-'))
  try {
    for (const [before, after] of texts(60)) {
      if (before === '' || before === after) continue
      await writeFile(join(folder, 'main.cpp'), before)
      await writeFile(join(folder, 'change'), fullDiff(before, after, 'main.cpp'))
      execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', 'change'], { cwd: folder })
      expect(await readFile(join(folder, 'main.cpp'), 'utf8').catch(() => '')).toBe(after)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a difference shows the whole text, and none is none', () => {
  expect(fullDiff('a\nb\nc\n', 'a\nx\nc', 'main.py')).toBe(
    '--- a/main.py\n+++ b/main.py\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+x\n+c\n\\ No newline at end of file\n',
  )
  expect(fullDiff('same', 'same', 'm')).toBe('')
  expect(fullDiff('', 'new', 'm')).toBe('')
})
