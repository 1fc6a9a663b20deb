import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePipe } from './fixture/make-pipe.ts'
import { openWork } from './fixture/open-work.ts'
import { parseGlob } from './glob.ts'

describe('list_files', () => {
  test('lists sorted, folders before what is in them, and names what is no file', async () => {
    await using work = await openWork({
      files: { 'b.txt': '', 'a/z': '', 'a/b/c': '', '.git/config': '', 'node_modules/x/y': '' },
    })
    symlinkSync('/etc', join(work.folder, 'link'))
    makePipe(join(work.folder, 'pipe'))
    expect((await work.text('list_files', {})).split('\n')).toEqual([
      '.git/ (not opened)',
      'a/',
      'a/b/',
      'a/b/c',
      'a/z',
      'b.txt',
      'link -> /etc',
      'node_modules/ (not opened)',
      'pipe (not a regular file)',
      '[the working folder: 9 shown]',
    ])
    expect(await work.text('list_files', { path: 'node_modules' })).toBe('x/\nx/y\n[node_modules: 2 shown]')
    expect(await work.text('list_files', { depth: 1, path: 'a' })).toBe('b/\nz\n[a: 2 shown]')
    expect(await work.text('list_files', { glob: '**/*.txt' })).toBe('b.txt\n[the working folder, **/*.txt: 1 shown]')
    expect(await work.text('list_files', { glob: '*.py' })).toBe('[the working folder, *.py: nothing]')
    expect(await work.text('list_files', { path: 'link' })).toContain('link is a symbolic link to the outside')
  })

  test('is bounded, and says what is left out', async () => {
    await using work = await openWork({ limits: { resultBytes: 4_000 } })
    mkdirSync(join(work.folder, 'many'))
    for (let count = 0; count < 1_500; count++) writeFileSync(join(work.folder, 'many', `file-${count}`), '')
    const text = await work.text('list_files', {})
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_000)
    const shown = text.split('\n').filter((line) => !line.startsWith('[')).length
    expect(text).toContain(`[${1_501 - shown} more are left out`)
  })
})

describe('a glob', () => {
  test.each([
    ['*.ts', 'src/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/b/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/b/c/a.ts', true],
    ['**/b/**', 'a/b/c', true],
    ['**', 'a/b', true],
    ['./src/', 'src', true],
    ['/src/a', 'src/a', true],
    ['?.c', 'ü.c', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['*.{c,h}', 'x/y.h', true],
    ['{a,b{1,2}}', 'b2', true],
    ['{a,b{1,2}}', 'b3', false],
    ['[', '[', true],
    ['a*b*c', 'axxbxxc', true],
    ['a*b*c', 'axxbxx', false],
  ])('%s fits %s: %s', (glob, path, fits) => {
    expect(parseGlob(glob)(path)).toBe(fits)
  })

  test('that would take others forever takes no time', () => {
    const glob = parseGlob(`${'a*'.repeat(100)}b`)
    expect(glob('a'.repeat(250))).toBe(false)
    expect(parseGlob(`${'**/'.repeat(100)}x`)('a/'.repeat(2_000))).toBe(false)
  })

  test('with too many braces or too long is refused', () => {
    expect(() => parseGlob('{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}')).toThrow('more than 64 patterns')
    expect(() => parseGlob('x'.repeat(600))).toThrow('512 bytes')
  })
})
