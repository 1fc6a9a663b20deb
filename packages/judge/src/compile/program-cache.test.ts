import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompileResult } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { ProgramCache } from './program-cache.ts'

const WORDS_BYTES = 4_000
const RESULT: CompileResult = {
  ...{ cmd: ['cc'], ok: true, exit_code: 0, stdout_b64: '', stdout_truncated: false, stderr_truncated: false },
  ...{ stderr_b64: 'w'.repeat(WORDS_BYTES), time_ms: 1, memory_kb: 1, cached: false, message: null },
}

test('what a compiler said counts as much as the program, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const onDisk = (): number => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  const limits = { bytes: 10_000, entries: 100 }
  const cache = await ProgramCache.open(folder, limits)
  for (const key of ['a', 'b', 'c', 'd']) {
    const draft = cache.draft()
    writeFileSync(draft, 'tiny')
    const { release } = await cache.put(key, draft, RESULT)
    release()
    expect({ key, bytes: cache.bytes, fits: onDisk() <= limits.bytes }).toEqual({ key, bytes: onDisk(), fits: true })
  }
  expect(readdirSync(folder).toSorted()).toEqual(['c.bin', 'c.json', 'd.bin', 'd.json'])
  const again = await ProgramCache.open(folder, { ...limits, bytes: 5_000 })
  expect({ bytes: again.bytes, names: readdirSync(folder).length }).toEqual({ bytes: onDisk(), names: 2 })
})
