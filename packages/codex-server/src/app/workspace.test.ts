import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Backend } from '../backend/backend.ts'
import { type MiniBackendWorld, openMiniBackendWorld } from '../backend/fixture/mini-backend-world.ts'
import { AppClient } from './fixture/app-client.ts'
import { portsOf } from './fixture/ports-of.ts'

let world: MiniBackendWorld
let client: AppClient

beforeAll(async () => {
  world = await openMiniBackendWorld({ needsKey: false })
  client = await AppClient.open({ backend: () => Promise.resolve(world.backend), folder: world.workspace })
})
afterAll(async () => {
  await client.end()
  await world[Symbol.asyncDispose]()
})

test('a command is run with its own folder, and its exit code and both outputs come back', async () => {
  const command = ['sh', '-c', 'pwd; echo e >&2; exit 3']
  const sandboxPolicy = { mode: 'danger-full-access' }
  expect(await client.call('execOneOffCommand', { command, cwd: '/', timeoutMs: 5_000, sandboxPolicy })).toEqual({
    exitCode: 3,
    stdout: '/\n',
    stderr: 'e\n',
  })
  expect(await client.call('execOneOffCommand', { command: ['pwd'], sandboxPolicy: 'danger-full-access' })).toMatchObject({
    stdout: `${world.workspace}\n`,
  })
  expect(client.notes).toEqual(['sandboxPolicy as text is taken for {mode: "danger-full-access"}'])
})

test('what cannot be run is said in the words of 0.44', async () => {
  const sandboxPolicy = { mode: 'danger-full-access' }
  expect(await client.ask('execOneOffCommand', { command: [] })).toMatchObject({
    error: { code: -32600, message: 'command must not be empty' },
  })
  expect(await client.ask('execOneOffCommand', { command: ['sleep', '9'], timeoutMs: 50, sandboxPolicy })).toMatchObject({
    error: { code: -32603, message: 'exec failed: sandbox error: command timed out' },
  })
  expect(await client.ask('execOneOffCommand', { command: ['/no/such'], sandboxPolicy })).toMatchObject({
    error: { code: -32603, message: expect.stringMatching(/^exec failed: /) },
  })
})

test('a long command does not keep others waiting', async () => {
  const slow = client.post('execOneOffCommand', { command: ['sleep', '0.3'], sandboxPolicy: { mode: 'danger-full-access' } })
  const from = client.received.length
  await client.call('getUserAgent')
  await client.answerTo(slow)
  expect(client.received.slice(from).map(({ id }) => id)).toEqual([slow + 1, slow])
})

test('the difference to the remote is that of real git', async () => {
  const repository = join(world.folder, 'repository')
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim()
  const remote = join(world.folder, 'remote.git')
  git(world.folder, 'init', '-q', '--bare', '-b', 'main', remote)
  await mkdir(repository)
  git(repository, 'init', '-q', '-b', 'main')
  await writeFile(join(repository, 'a.txt'), 'one\n')
  git(repository, 'add', '.')
  git(repository, 'commit', '-qm', 'first')
  git(repository, 'remote', 'add', 'origin', remote)
  git(repository, 'push', '-qu', 'origin', 'main')
  await writeFile(join(repository, 'a.txt'), 'two\n')
  const answer = await client.call('gitDiffToRemote', { cwd: repository })
  expect(answer).toEqual({ sha: git(repository, 'rev-parse', 'HEAD'), diff: expect.stringContaining('-one\n+two') })
  expect(await client.ask('gitDiffToRemote', { cwd: '/nope' })).toMatchObject({
    error: { code: -32600, message: 'failed to compute git diff to remote for cwd: "/nope"' },
  })
})

test('files are found by parts of their names', async () => {
  await writeFile(join(world.workspace, 'branding.txt'), '')
  expect(await client.call('fuzzyFileSearch', { query: 'bran', roots: ['.'], cancellationToken: null })).toEqual({
    files: [
      {
        root: world.workspace,
        path: 'branding.txt',
        file_name: 'branding.txt',
        score: expect.any(Number),
        indices: [0, 1, 2, 3],
      },
    ],
  })
  expect(await client.call('fuzzyFileSearch', { query: '', roots: ['/'] })).toEqual({ files: [] })
  expect(await client.call('fuzzyFileSearch', { query: 'x', roots: [] })).toEqual({ files: [] })
})

test('a new search with the token of an old one ends that, and both are answered', async () => {
  const { backend } = world
  const signals: AbortSignal[] = []
  const search: Backend['workspace']['search'] = (ask, signal) => {
    signals.push(signal)
    if (ask.query !== 'old') return backend.workspace.search(ask, signal)
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }))
  }
  const workspace: Backend['workspace'] = {
    diffToRemote: (folder) => backend.workspace.diffToRemote(folder),
    exec: (command) => backend.workspace.exec(command),
    search,
  }
  const searching = () => Promise.resolve(portsOf(backend, { workspace }))
  await using other = await AppClient.open({ backend: searching, folder: world.workspace })
  await writeFile(join(world.workspace, 'branding.txt'), '')
  const old = other.post('fuzzyFileSearch', { query: 'old', roots: ['.'], cancellationToken: 't' })
  const fresh = other.post('fuzzyFileSearch', { query: 'bran', roots: ['.'], cancellationToken: 't' })
  expect(await other.answerTo(old)).toEqual({ id: old, result: { files: [] } })
  expect(await other.answerTo(fresh)).toMatchObject({ result: { files: [{ path: 'branding.txt' }] } })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})
