import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePipe } from '../fixture/make-pipe.ts'
import { openWork } from '../fixture/open-work.ts'
import { openFolderOf } from '../folder/folder.ts'
import { runSearch } from './run-search.ts'
import { searchTool } from './search.ts'

const FILES = {
  'a.ts': 'const alpha = 1\nlet beta = alpha\n',
  'sub/b.py': 'alpha = 2\r\nBETA\r\n',
  bin: new Uint8Array([0x61, 0x6c, 0x70, 0x68, 0x61, 0]),
  'node_modules/m/i.js': 'alpha\n',
}

describe('search', () => {
  test('finds lines by expression and by plain text', async () => {
    await using work = await openWork({ files: FILES })
    expect(await work.text('search', { pattern: 'al[p]ha' })).toBe(
      'a.ts:1: const alpha = 1\na.ts:2: let beta = alpha\nsub/b.py:1: alpha = 2\n[3 lines in 2 files; 2 files searched; skipped 1 binary]',
    )
    expect(await work.text('search', { pattern: '[p]', literal: true })).toContain('[nothing found; 2 files searched')
    expect(await work.text('search', { pattern: '^beta', ignore_case: true })).toContain('sub/b.py:2: BETA\n')
    expect(await work.text('search', { pattern: 'alpha', glob: '*.py' })).toContain('[1 lines in 1 files; 1 files searched]')
    expect(await work.text('search', { pattern: 'alpha', path: 'sub/b.py' })).toContain('sub/b.py:1: alpha = 2\n')
    expect(await work.text('search', { pattern: 'alpha', path: 'node_modules' })).toContain('node_modules/m/i.js:1: alpha\n')
    expect(await work.text('search', { pattern: 'alpha', max_results: 1 })).toContain('stopped at 1 results: there are more')
    expect(await work.text('search', { pattern: 'x', path: 'none' })).toBe('none: there is no such file')
    await expect(work.call('search', { pattern: '(' })).rejects.toThrow('pattern: Invalid regular expression')
  })

  test('does not follow links, nor wait for pipes', async () => {
    await using work = await openWork({ files: FILES })
    writeFileSync(join(work.outside, 'secret'), 'alpha outside\n')
    symlinkSync('../outside', join(work.folder, 'out'))
    symlinkSync('../outside/secret', join(work.folder, 'secret'))
    makePipe(join(work.folder, 'pipe'))
    expect(await work.text('search', { pattern: 'alpha' })).toContain('[3 lines in 2 files')
    expect(await work.text('search', { pattern: 'alpha', path: 'out' })).toContain('leads out of the working folder')
    expect(await work.text('search', { pattern: 'alpha', path: 'pipe' })).toContain('not a regular file')
  })

  test('shows of a long line what stands around the match', async () => {
    await using work = await openWork({ files: { f: `${'x'.repeat(100_000)}needle${'y'.repeat(100_000)}\n` } })
    const text = await work.text('search', { pattern: 'needle' })
    expect([text.includes('xneedley'), text.length < 500]).toEqual([true, true])
  })

  test('an expression that would take years ends with its time, leaves nothing open and lets others work', async () => {
    await using work = await openWork({ files: { a: 'b\n', f: `${'a'.repeat(100)}!\n`, g: 'b\n' } })
    const tool = searchTool({ folder: openFolderOf(work.folder), resultBytes: 4_000, timeoutMs: 2_000 })
    const context = {
      call: 'c',
      reach: 'read-only' as const,
      network: false,
      emit: () => {},
      signal: new AbortController().signal,
    }
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = open()
    let ticks = 0
    const ticking = setInterval(() => ticks++, 10)
    const result = await tool.run({ pattern: '^(a+)+$|b' }, context)
    clearInterval(ticking)
    expect(result.isError).toBe(true)
    expect(result.parts).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(/^a:1: b\n\[the search was stopped after 2000 ms; until then: 1 lines in 1 files\. /),
      },
    ])
    expect(ticks).toBeGreaterThan(3)
    await expect.poll(open).toBeLessThanOrEqual(before)
  })

  test('is given up when nobody waits any more', async () => {
    await using work = await openWork({ files: { f: `${'a'.repeat(100)}!\n` } })
    const gone = new AbortController()
    const order = {
      folder: work.folder,
      real: work.folder,
      outOfReach: [],
      known: new Set<string>(),
      path: '.',
      reach: 'read-only' as const,
      pattern: '^(a+)+$',
      flags: '',
      glob: null,
      maxResults: 1,
    }
    const searching = runSearch(order, 60_000, gone.signal)
    gone.abort()
    await expect(searching).rejects.toThrow('the search was given up')
    await expect(work.call('search', { pattern: 'x' }, { signal: gone.signal })).rejects.toThrow('aborted')
  })
})
