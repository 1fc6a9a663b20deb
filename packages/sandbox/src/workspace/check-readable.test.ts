import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isShown } from './check-readable.ts'

test('a folder of a PATH that cannot be looked at is not shown, and no failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-shown-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // Somebody else's home is such a folder, too; but root may look at everything.
  symlinkSync('round', join(folder, 'round'))
  expect(isShown(join(folder, 'round', 'bin'), [])).toBe(false)
  expect(isShown(join(folder, 'gone'), [folder])).toBe(false)
  expect(isShown(folder, [folder])).toBe(true)
  expect(isShown('/usr/bin', [])).toBe(true)
})
