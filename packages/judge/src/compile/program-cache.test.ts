import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompileResult } from '@parley/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type CachedProgram, ProgramCache } from './program-cache.ts'

const WORDS_BYTES = 4_000
const RESULT: CompileResult = {
  ...{ cmd: ['cc'], ok: true, exit_code: 0, stdout_b64: '', stdout_truncated: false, stderr_truncated: false },
  ...{ stderr_b64: 'w'.repeat(WORDS_BYTES), time_ms: 1, memory_kb: 1, cached: false, message: null },
}

interface Opened {
  readonly folder: string
  readonly cache: ProgramCache
  readonly put: (key: string) => Promise<CachedProgram>
}

async function openCache(limits: { bytes: number; entries: number }): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const cache = await ProgramCache.open(folder, limits)
  const put = (key: string): Promise<CachedProgram> => {
    const draft = cache.draft()
    writeFileSync(draft, 'tiny')
    return cache.put(key, draft, RESULT)
  }
  return { folder, cache, put }
}

/** Where a folder with something in it stands, no file can be put and none removed. */
function obstruct(path: string): void {
  rmSync(path, { force: true })
  mkdirSync(join(path, 'full'), { recursive: true })
}

test('a program is put although another cannot be removed, and goes once it is released', async () => {
  const { folder, cache, put } = await openCache({ bytes: 1_000_000, entries: 1 })
  ;(await put('stuck')).release()
  obstruct(join(folder, 'stuck.bin'))
  const held = await put('b')
  const again = await cache.get('b')
  expect(again?.path).toBe(held.path)
  // What is still on the disk still counts.
  expect(cache.bytes).toBeGreaterThan(2 * WORDS_BYTES)
  again?.release()
  held.release()
  ;(await put('c')).release()
  expect(readdirSync(folder).toSorted()).toEqual(['c.bin', 'c.json', 'stuck.bin'])
})

test('a program that fails to be put half-way is held by nobody and leaves no file', async () => {
  const { folder, cache, put } = await openCache({ bytes: 1_000_000, entries: 1 })
  obstruct(join(folder, 'a.json'))
  await expect(put('a')).rejects.toMatchObject({ syscall: 'rename' })
  expect({ bytes: cache.bytes, names: readdirSync(folder) }).toEqual({ bytes: 0, names: ['a.json'] })
  expect(await cache.get('a')).toBeUndefined()
  rmSync(join(folder, 'a.json'), { recursive: true })
  ;(await put('a')).release()
  ;(await put('b')).release()
  expect(readdirSync(folder).toSorted()).toEqual(['b.bin', 'b.json'])
})

test('a program that was put twice goes when both have let it go', async () => {
  const { folder, put } = await openCache({ bytes: 1_000_000, entries: 1 })
  const [first, second] = [await put('a'), await put('a')]
  first.release()
  ;(await put('b')).release()
  expect(readdirSync(folder)).toContain('a.bin')
  second.release()
  ;(await put('b')).release()
  expect(readdirSync(folder).toSorted()).toEqual(['b.bin', 'b.json'])
})

test('what cannot be used any more leaves the disk', async () => {
  const { folder, cache, put } = await openCache({ bytes: 1_000_000, entries: 9 })
  ;(await put('a')).release()
  writeFileSync(join(folder, 'a.bin'), 'of another size')
  expect(await cache.get('a')).toBeUndefined()
  expect({ bytes: cache.bytes, names: readdirSync(folder) }).toEqual({ bytes: 0, names: [] })
})

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
