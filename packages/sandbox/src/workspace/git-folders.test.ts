import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gitFoldersOf } from './git-folders.ts'

let place = ''
beforeEach(() => {
  place = realpathSync(mkdtempSync('/var/tmp/parley-git-folders-'))
})
afterEach(() => rmSync(place, { recursive: true }))

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always']
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', [...IDENTITY, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' })
const write = (path: string, text: string): void => writeFileSync(join(place, path), text)
const make = (...paths: readonly string[]): void => {
  for (const path of paths) mkdirSync(join(place, path), { recursive: true })
}
function repository(name: string): string {
  make(name)
  git(join(place, name), 'init', '-q')
  git(join(place, name), 'commit', '-q', '--allow-empty', '-m', 'one')
  return join(place, name)
}
/** What an archive can contain: a working folder whose `.git` leads to a folder that leads back and says where the repository is. */
function forge(gitFolder: string, common: string): string {
  make('work', gitFolder)
  write('work/.git', `gitdir: ../${gitFolder}\n`)
  write(join(gitFolder, 'gitdir'), `${place}/work/.git\n`)
  write(join(gitFolder, 'commondir'), `${common}\n`)
  return join(place, 'work')
}

test('a linked working tree sees of its repository what git reads, and not the folder around that', () => {
  const main = repository('main')
  git(main, 'worktree', 'add', '-q', '../tree')
  git(main, 'pack-refs', '--all')
  writeFileSync(join(main, '.git/private'), 'x')
  const common = join(main, '.git')
  const shown = gitFoldersOf(join(place, 'tree'))
  expect(shown).toEqual(
    expect.arrayContaining(['worktrees/tree', 'HEAD', 'objects', 'refs', 'packed-refs'].map((name) => join(common, name))),
  )
  for (const path of [place, main, common, join(common, 'hooks'), join(common, 'worktrees'), join(common, 'private')])
    expect(shown).not.toContain(path)
})

test.each([
  ['the folder above the working folder', 'y', '../..', []],
  ['a folder beside it that is no repository', 'store/worktrees/y', '../..', ['store/private']],
  ['a folder that holds the working folder and looks like a repository', 'worktrees/y', '../..', ['objects', 'refs']],
  ['the whole machine', 'store/worktrees/y', '/', []],
  ['the home', 'store/worktrees/y', homedir(), []],
])('a forged one shows nothing: %s', (_what, gitFolder, common, folders) => {
  const work = forge(gitFolder, common)
  make(...folders)
  if (folders.includes('refs')) write('HEAD', 'ref: refs/heads/main\n')
  expect(gitFoldersOf(work)).toEqual([])
})

test('a repository whose parts are links is none, and a part that is a link is not shown', () => {
  const work = forge('store/worktrees/y', '../..')
  make('store/objects', 'store/refs', 'private')
  write('store/HEAD', 'ref: refs/heads/main\n')
  symlinkSync(join(place, 'private'), join(place, 'store/info'))
  expect(gitFoldersOf(work)).toEqual(['worktrees/y', 'HEAD', 'objects', 'refs'].map((name) => join(place, 'store', name)))
  renameSync(join(place, 'store/objects'), join(place, 'objects'))
  symlinkSync(join(place, 'private'), join(place, 'store/objects'))
  expect(gitFoldersOf(work)).toEqual([])
})

test('a submodule sees its repository in that of the project around it, and one by another path is none', () => {
  const inner = repository('inner')
  const outer = repository('outer')
  git(outer, 'submodule', 'add', '-q', inner, 'sub')
  expect(gitFoldersOf(join(outer, 'sub'))).toEqual([join(outer, '.git/modules/sub')])
  make('work')
  git(join(place, 'work'), 'init', '-q', `--separate-git-dir=${place}/apart`)
  git(join(place, 'apart'), 'config', 'core.worktree', join(place, 'work'))
  expect(readFileSync(join(place, 'work/.git'), 'utf8')).toContain('apart')
  expect(gitFoldersOf(join(place, 'work'))).toEqual([])
})
