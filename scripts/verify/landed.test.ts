import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from '../testing/scratch.ts'
import { changesSinceLanding, LANDED_FILE } from './landed.ts'

function git({ root }: Scratch, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...who, ...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

function commit(repository: Scratch, path: string): string {
  repository.write(path, `${path}\n`)
  git(repository, 'add', '-A')
  git(repository, 'commit', '-q', '-m', path)
  return git(repository, 'rev-parse', 'HEAD')
}

function openRepository(): Scratch {
  const repository = openScratch()
  git(repository, 'init', '-q')
  return repository
}

test('what was committed since the last landing has changed, and so has what waits to be', () => {
  using repository = openRepository()
  const landed = commit(repository, 'a.ts')
  commit(repository, 'packages/b/with a space.ts')
  repository.write(LANDED_FILE, `${landed}\n`)
  repository.write('c/ü.ts', '')
  expect(changesSinceLanding(repository.root)).toEqual({
    kind: 'files',
    files: ['packages/b/with a space.ts', LANDED_FILE, 'c/ü.ts'],
    words: `compared with what landed last (${landed})`,
  })
})

test('a HEAD that has landed has changed nothing, and that is said', () => {
  using repository = openRepository()
  repository.write('.gitignore', '.ci\n')
  const landed = commit(repository, 'a.ts')
  repository.write(LANDED_FILE, landed)
  const words = `HEAD is what landed last (${landed})`
  expect(changesSinceLanding(repository.root)).toEqual({ kind: 'files', files: [], words })
})

test.each([
  ['no note', undefined, 'does not hold the id of a commit'],
  ['a note that is no id', 'main', 'does not hold the id of a commit'],
  ['an id that nobody knows', '0'.repeat(40), 'which is not in this repository'],
])('with %s everything may have changed, and that is said', (_, note, words) => {
  using repository = openRepository()
  commit(repository, 'a.ts')
  if (note !== undefined) repository.write(LANDED_FILE, note)
  expect(changesSinceLanding(repository.root)).toEqual({
    kind: 'unknown',
    words: expect.stringMatching(new RegExp(`${words}: every part is run$`)),
  })
})

test('with an id that HEAD does not come from everything may have changed', () => {
  using repository = openRepository()
  commit(repository, 'a.ts')
  git(repository, 'checkout', '-q', '--orphan', 'other')
  const other = commit(repository, 'b.ts')
  git(repository, 'checkout', '-q', '--orphan', 'third')
  commit(repository, 'c.ts')
  repository.write(LANDED_FILE, other)
  expect(changesSinceLanding(repository.root).words).toContain('which HEAD does not come from')
})

test('outside of a repository everything may have changed', () => {
  using folder = openScratch({ [LANDED_FILE]: '0'.repeat(40) })
  expect(changesSinceLanding(folder.root).words).toBe('this is no git repository: every part is run')
})
