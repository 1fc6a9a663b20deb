import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makePipe } from '../fixture/make-pipe.ts'
import { BY_DESCRIPTOR, BY_PATH } from './dir.ts'
import { type Folder, openFolderOf } from './folder.ts'
import { PathRefused } from './path-refused.ts'

describe.each([
  { name: 'by descriptor', holding: BY_DESCRIPTOR },
  { name: 'by path', holding: BY_PATH },
])('a folder held $name', ({ holding }) => {
  let base = ''
  let folder: Folder
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'parley-folder-'))
    mkdirSync(join(base, 'in/a/b'), { recursive: true })
    mkdirSync(join(base, 'out'))
    writeFileSync(join(base, 'in/a/b/file'), 'inside')
    writeFileSync(join(base, 'out/secret'), 'outside')
    folder = openFolderOf(join(base, 'in'), { holding })
  })
  afterEach(() => rmSync(base, { recursive: true }))

  const read = (path: string, reach: 'workspace-write' | 'full-access' = 'workspace-write'): string => {
    using file = folder.openFile(path, reach)
    return `${file.shown}: ${readFileSync(file.fd, 'utf8')}`
  }
  const link = (target: string, path: string): void => symlinkSync(target, join(base, 'in', path))

  test('is read by relative, absolute and roundabout paths', () => {
    expect(read('a/b/file')).toBe('a/b/file: inside')
    expect(read(join(base, 'in/a/b/file'))).toBe('a/b/file: inside')
    expect(read('./a//b/../../a/b/file')).toBe('a/b/file: inside')
  })

  test('is read by links that stay inside', () => {
    link('b', 'a/c')
    link('../a/c/file', 'a/up')
    link(join(base, 'in/a'), 'whole')
    expect(read('a/c/file')).toBe('a/b/file: inside')
    expect(read('a/up')).toBe('a/b/file: inside')
    expect(read('whole/b/file')).toBe('a/b/file: inside')
  })

  test('may itself be named by a link', () => {
    symlinkSync(join(base, 'in'), join(base, 'alias'))
    folder = openFolderOf(join(base, 'alias'), { holding })
    expect(read(join(base, 'alias/a/b/file'))).toBe('a/b/file: inside')
    expect(read(join(base, 'in/a/b/file'))).toBe('a/b/file: inside')
  })

  test('is not followed where a link is put in its place', () => {
    symlinkSync(join(base, 'in'), join(base, 'alias'))
    const named = openFolderOf(join(base, 'alias'), { holding })
    rmSync(join(base, 'alias'))
    symlinkSync('out', join(base, 'alias'))
    renameSync(join(base, 'in'), join(base, 'away'))
    symlinkSync('out', join(base, 'in'))
    const elsewhere = expect.objectContaining({ code: 'outside', message: expect.stringContaining('leads elsewhere by now') })
    for (const moved of [folder, named, openFolderOf(folder.path, { holding, real: folder.real })]) {
      expect(() => moved.openFile('secret', 'workspace-write')).toThrow(elsewhere)
      expect(() => moved.openFolder('.', 'read-only')).toThrow(elsewhere)
      expect(() => moved.walkToWrite('new', 'follow')).toThrow(elsewhere)
    }
  })

  test('is never left', () => {
    link('../../out', 'a/out')
    link(join(base, 'out/secret'), 'secret')
    link('../out/secret', 'relative')
    link('a/out', 'twice')
    const outside = expect.objectContaining({ code: 'outside' })
    for (const path of ['../out/secret', 'a/../../out/secret', join(base, 'out/secret'), '/etc/passwd', `${base}/in-not/x`])
      expect(() => read(path)).toThrow(outside)
    for (const path of ['a/out/secret', 'secret', 'relative', 'twice/secret', 'a/out']) expect(() => read(path)).toThrow(outside)
    expect(() => folder.openFolder('a/out', 'read-only')).toThrow(outside)
    for (const path of ['a/out/secret', 'secret', '../x', 'a/out/new/deep'])
      expect(() => folder.walkToWrite(path, 'follow')).toThrow(outside)
  })

  test('with full access everything can be read, and still nothing else be written', () => {
    link('../../out', 'a/out')
    expect(read(join(base, 'out/secret'), 'full-access')).toBe(`${base}/out/secret: outside`)
    expect(read('../out/secret', 'full-access')).toBe(`${base}/out/secret: outside`)
    expect(read('a/out/secret', 'full-access')).toBe(`${base}/out/secret: outside`)
    expect(read('a/b/file', 'full-access')).toBe('a/b/file: inside')
  })

  test('has no links without end', () => {
    link('two', 'one')
    link('one', 'two')
    expect(() => read('one')).toThrow('too many symbolic links')
  })

  test('pipes, devices, sockets and folders are no files, and a pipe that nobody writes to does not hold anybody up', () => {
    makePipe(join(base, 'in/pipe'))
    for (const path of ['a', 'a/b/']) expect(() => read(path)).toThrow(expect.objectContaining({ code: 'is_folder' }))
    expect(() => read('pipe')).toThrow(expect.objectContaining({ code: 'wrong_kind' }))
    expect(() => read('/dev/zero', 'full-access')).toThrow(expect.objectContaining({ code: 'wrong_kind' }))
    expect(() => read('a/b/file/x')).toThrow('a/b/file is not a folder')
  })

  test('paths that are none are refused', () => {
    for (const path of ['', '  ', 'a\0b', 'x'.repeat(5_000)])
      expect(() => read(path)).toThrow(expect.objectContaining({ code: 'bad_path' }))
    expect(() => read('nothing/here')).toThrow(expect.objectContaining({ code: 'missing' }))
    expect(() => read('y'.repeat(300))).toThrow('the name is too long')
  })

  test("git's own files are read but not written, whatever the folder is called meanwhile", () => {
    mkdirSync(join(base, 'in/.git/hooks'), { recursive: true })
    writeFileSync(join(base, 'in/.git/config'), '[core]')
    folder = openFolderOf(join(base, 'in'), { holding })
    expect(read('.git/config')).toBe('.git/config: [core]')
    link('.git/hooks', 'innocent')
    const guarded = expect.objectContaining({ code: 'protected' })
    for (const path of ['.git/hooks/pre-commit', '.GIT/hooks/x', 'a/.git/hooks/x', 'innocent/post-checkout', '.git'])
      expect(() => folder.walkToWrite(path, 'follow')).toThrow(guarded)
    renameSync(join(base, 'in/.git'), join(base, 'in/renamed'))
    expect(() => folder.walkToWrite('renamed/hooks/pre-commit', 'follow')).toThrow(guarded)
  })

  test("git's own files are not written where its folder is called otherwise", () => {
    writeFileSync(join(base, 'in/.git'), 'gitdir: a/store\n')
    mkdirSync(join(base, 'in/a/store/objects'), { recursive: true })
    mkdirSync(join(base, 'in/a/store/refs'))
    mkdirSync(join(base, 'in/a/store/hooks'))
    mkdirSync(join(base, 'in/a/shares'))
    for (const path of ['store/HEAD', 'store/config', 'shares/HEAD', 'shares/commondir'])
      writeFileSync(join(base, 'in/a', path), '')
    const guarded = expect.objectContaining({ code: 'protected' })
    for (const path of ['a/store/config', 'a/store/hooks/pre-commit', 'a/store/new/deep', 'a/shares/config.worktree', '.git'])
      expect(() => folder.walkToWrite(path, 'follow')).toThrow(guarded)
    folder.walkToWrite('a/b/file', 'follow')[Symbol.dispose]()
    expect(read('a/store/HEAD')).toBe('a/store/HEAD: ')
  })

  test('nothing stays open', () => {
    const open = (): number => readdirSync('/proc/self/fd').length
    link('b', 'a/c')
    read('a/c/file')
    const before = open()
    for (let round = 0; round < 50; round++) {
      read('a/c/file')
      folder.openFolder('a/b', 'read-only')[Symbol.dispose]()
      folder.walkToWrite('a/c/new', 'follow')[Symbol.dispose]()
      for (const path of ['../x', 'a/none', 'a']) expect(() => read(path)).toThrow(PathRefused)
    }
    expect(open()).toBe(before)
  })
})
