import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalCommands } from '@parley/agent/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openGit } from '../fixture/mini-backend-world.ts'
import type { OneOffCommand } from '../backend.ts'
import { fuzzyMatch } from './fuzzy-score.ts'
import { openWorkspace } from './open-workspace.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const reaches: string[] = []
const open = () =>
  openWorkspace({
    folder,
    git: openGit,
    commandsFor: () => ({
      run: (request, output, signal) => {
        reaches.push(`${request.reach} ${request.network} ${request.folder}`)
        return openLocalCommands().run(request, output, signal)
      },
      close: () => Promise.resolve(),
    }),
  })
const never = new AbortController().signal

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...who, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

test('the diff begins at the nearest commit of a remote, holds new files, and runs nothing of the repository', async () => {
  const [remote, local] = [join(folder, 'remote'), join(folder, 'local')]
  mkdirSync(remote)
  git(remote, 'init', '-q')
  writeFileSync(join(remote, 'kept.txt'), 'one\n')
  git(remote, 'add', '.')
  git(remote, 'commit', '-qm', 'one')
  git(folder, 'clone', '-q', remote, local)
  const sha = git(local, 'rev-parse', 'HEAD')
  writeFileSync(join(local, 'committed.txt'), 'mine\n')
  git(local, 'add', '.')
  git(local, 'commit', '-qm', 'mine')
  writeFileSync(join(local, 'kept.txt'), 'two\n')
  writeFileSync(join(local, 'new file.txt'), 'untracked\n')
  writeFileSync(join(local, '.gitignore'), 'ignored.txt\n')
  writeFileSync(join(local, 'ignored.txt'), 'x\n')
  const touched = join(folder, 'touched')
  const script = join(folder, 'hostile.sh')
  writeFileSync(script, `#!/bin/sh\ntouch ${touched}\ncat\n`)
  chmodSync(script, 0o755)
  writeFileSync(join(local, '.gitattributes'), '* diff=bad filter=bad\n')
  for (const key of [
    'core.fsmonitor',
    'diff.external',
    'diff.bad.textconv',
    'diff.bad.command',
    'filter.bad.clean',
    'filter.bad.process',
  ])
    git(local, 'config', key, script)
  git(local, 'config', 'filter.bad.required', 'true')
  git(local, 'config', 'core.hooksPath', folder)

  const answer = await open().diffToRemote(join(local, '.git', '..'))
  expect(answer.sha).toBe(sha)
  for (const part of ['+mine', '-one\n+two', '+untracked', 'b/new file.txt']) expect(answer.diff).toContain(part)
  expect(answer.diff).not.toContain('ignored.txt\n+x')
  expect(existsSync(touched)).toBe(false)

  writeFileSync(join(remote, 'later.txt'), 'later\n')
  git(remote, 'add', '.')
  git(remote, 'commit', '-qm', 'later')
  git(local, '-c', 'core.fsmonitor=false', 'fetch', '-q')
  expect((await open().diffToRemote(local)).sha).toBe(sha)
})

test('a folder without a repository or without a remote has no such diff', async () => {
  const alone = join(folder, 'alone')
  mkdirSync(alone)
  const wording = `failed to compute git diff to remote for cwd: ${JSON.stringify(alone)}`
  await expect(open().diffToRemote(alone)).rejects.toMatchObject({ code: 'invalid_request', message: wording })
  git(alone, 'init', '-q')
  git(alone, 'commit', '-qm', 'one', '--allow-empty')
  await expect(open().diffToRemote(alone)).rejects.toThrow(wording)
  await expect(open().diffToRemote(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'invalid_request' })
})

test('a command runs with the reach of its policy, and how it ends is told in words of old', async () => {
  const workspace = open()
  const exec = (command: OneOffCommand) => workspace.exec(command)
  const script = ['sh', '-c', 'echo o; echo e >&2; exit 3'] as const
  reaches.length = 0
  mkdirSync(join(folder, 'within'))
  expect(await exec({ argv: script })).toEqual({ exitCode: 3, stdout: 'o\n', stderr: 'e\n' })
  await exec({ argv: ['true'], folder: 'within', sandboxPolicy: { mode: 'workspace-write', networkAccess: true } })
  await exec({ argv: ['true'], sandboxPolicy: { mode: 'danger-full-access' } })
  expect(reaches).toEqual([
    `read-only false ${folder}`,
    `workspace-write true ${join(folder, 'within')}`,
    `full-access true ${folder}`,
  ])
  await expect(exec({ argv: ['sleep', '60'], timeoutMs: 100 })).rejects.toThrow('exec failed: sandbox error: command timed out')
  await expect(exec({ argv: [] })).rejects.toMatchObject({ code: 'invalid_request', message: 'command must not be empty' })
  await expect(exec({ argv: ['no-such-program'] })).rejects.toMatchObject({ code: 'failed', message: /^exec failed: / })
})

test('a command ends when nobody waits for it any more, and says no more than is kept', async () => {
  const workspace = open()
  const stop = new AbortController()
  const pidFile = join(folder, 'command.pid')
  const running = workspace.exec({ argv: ['sh', '-c', `echo $$ > ${pidFile}; exec sleep 60`], timeoutMs: 60_000 }, stop.signal)
  const failure = running.catch((error: unknown) => error)
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').trim() !== '').toBe(true)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  stop.abort()
  expect(await failure).toMatchObject({ code: 'failed', message: 'exec failed: the command was stopped' })
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  await expect(workspace.exec({ argv: ['true'] }, AbortSignal.abort())).rejects.toThrow('the command was stopped')
  const { stdout } = await workspace.exec({ argv: ['sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x'] })
  expect(stdout).toHaveLength(1024 * 1024)
})

test('files are found by their letters, best first, and what git ignores is not', async () => {
  const root = join(folder, 'tree')
  mkdirSync(join(root, 'src', 'deep'), { recursive: true })
  mkdirSync(join(root, 'build', 'out'), { recursive: true })
  mkdirSync(join(root, '.git'), { recursive: true })
  for (const path of [
    'random.txt',
    'src/run-again.ts',
    'src/deep/Rant.md',
    'src/deep/kept.log',
    'src/a.log',
    'build/out/random.js',
    '.git/random',
  ])
    writeFileSync(join(root, path), '')
  writeFileSync(join(root, '.gitignore'), '# comment\n*.log\nbuild/\n')
  writeFileSync(join(root, 'src', 'deep', '.gitignore'), '!kept.log\n')
  const workspace = open()
  const search = (ask: { query: string; roots: string[] }, signal: AbortSignal) => workspace.search(ask, signal)
  const found = await search({ query: 'ran', roots: [root] }, never)
  expect(found.map(({ path }) => path)).toEqual(['random.txt', 'src/deep/Rant.md', 'src/run-again.ts'])
  expect(found[0]).toEqual({ root, path: 'random.txt', fileName: 'random.txt', score: 88, indices: [0, 1, 2] })
  expect((await search({ query: 'Ran', roots: [root] }, never)).map(({ path }) => path)).toEqual(['src/deep/Rant.md'])
  expect((await search({ query: 'log', roots: [root] }, never)).map(({ path }) => path)).toEqual(['src/deep/kept.log'])
  expect(await search({ query: 'ran', roots: [root] }, AbortSignal.abort())).toEqual([])
  expect(await search({ query: 'ran', roots: [join(folder, 'nowhere')] }, never)).toEqual([])
})

test('letters that stand together or begin words are worth more', () => {
  const score = (query: string, text: string) => fuzzyMatch(Array.from(query), text)?.score ?? null
  // As the real one scores the same.
  expect(fuzzyMatch(['c', 'o', 'n'], 'config.toml')).toMatchObject({ indices: [0, 1, 2] })
  expect(score('ab', 'xaxb')).toBeLessThan(score('ab', 'xxab') ?? 0)
  expect(score('ab', 'xxab')).toBeLessThan(score('ab', 'x/ab') ?? 0)
  expect(score('ba', 'ab')).toBeNull()
  expect(fuzzyMatch(['a', 'b'], 'a-x/ab')?.indices).toEqual([4, 5])
})
