import type { CommandRequest } from '@parley/agent'
import type { Placeholder } from '@parley/sandbox'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { processesLeft } from '@parley/sandbox/testing'
import { type Bench, openBench } from './fixture/open-bench.ts'
import { removeTree } from './remove-tree.ts'
import { type SandboxCommands, openSandboxCommands } from './sandbox-commands.ts'

let bench: Bench
let folder: string
let commands: SandboxCommands
beforeAll(async () => {
  bench = await openBench()
  folder = join(bench.folder, 'job', 'workspace')
  await mkdir(join(folder, 'below'), { recursive: true })
  await writeFile(join(bench.folder, 'job', 'secret'), 'other cases')
  commands = openSandboxCommands({ sandbox: bench.sandbox, folder, hidden: [bench.folder], network: false })
})
afterAll(async () => {
  await commands.close()
  await bench[Symbol.asyncDispose]()
})

const never = new AbortController().signal
const request = (script: string, more: Partial<CommandRequest> = {}): CommandRequest => ({
  argv: ['sh', '-c', script],
  folder,
  timeoutMs: 20_000,
  reach: 'workspace-write',
  network: false,
  outputBytes: 10_000,
  ...more,
})
const run = async (order: CommandRequest, signal = never, from = commands) => {
  const heard: string[] = []
  const outcome = await from.run(order, (stream, bytes) => heard.push(`${stream} ${Buffer.from(bytes).toString()}`), signal)
  return { ...outcome, heard, out: Buffer.from(outcome.stdout).toString(), err: Buffer.from(outcome.stderr).toString() }
}

test('a command writes in the folder, is heard while it runs, and its end is told', async () => {
  const outcome = await run(request('pwd; echo made > made; echo bad >&2; exit 3'))
  expect(outcome).toMatchObject({ exitCode: 3, signal: null, timedOut: false, message: null, out: `${folder}\n`, err: 'bad\n' })
  expect(outcome.heard.toSorted()).toEqual(['stderr bad\n', `stdout ${folder}\n`])
  expect(await readFile(join(folder, 'made'), 'utf8')).toBe('made\n')
})

test('a folder that was looked at before and is a link by now is not followed', async () => {
  await symlink(folder, join(bench.folder, 'linked'))
  const linked = join(bench.folder, 'linked')
  const late = openSandboxCommands({ sandbox: bench.sandbox, folder: linked, unlinked: true, hidden: [], network: false })
  onTestFinished(() => late.close())
  expect(await run(request('pwd', { folder: linked }), never, late)).toMatchObject({
    exitCode: null,
    message: expect.stringContaining('which is not where the work began'),
  })
})

test('it starts where it is asked to, and finds programs by their names', async () => {
  expect(await run(request('', { argv: ['pwd'], folder: join(folder, 'below') }))).toMatchObject({
    out: `${join(folder, 'below')}\n`,
  })
  expect(await run(request('', { argv: ['no-such-program'] }))).toMatchObject({ exitCode: 127 })
  expect(await run(request('', { argv: ['echo', '$HOME "; rm -rf /'] }))).toMatchObject({ out: '$HOME "; rm -rf /\n' })
})

test('what is hidden is not there, and there is no network', async () => {
  const outcome = await run(request(`cat ${bench.folder}/job/secret; ls ${bench.folder}; ls /root /home; cat /proc/net/dev`))
  expect(outcome.err).toMatch(/secret: No such file/)
  expect(outcome.out).not.toMatch(/cache|eth0/)
})

test('reading only is reading only', async () => {
  await writeFile(join(folder, 'read'), 'made\n')
  expect(await run(request('cat read > /dev/null; echo no > read', { reach: 'read-only' }))).toMatchObject({ exitCode: 2 })
  expect(await readFile(join(folder, 'read'), 'utf8')).toBe('made\n')
})

test.each<[string, Partial<CommandRequest>, RegExp]>([
  ['more reach', { reach: 'full-access' }, /no further than the working folder/],
  ['a network', { network: true }, /no network/],
  ['another folder', { folder: '/tmp' }, /outside the working folder/],
  ['a folder beside', { folder: '/' }, /outside/],
  ['nothing', { argv: [] }, /argv/],
])('%s is refused, not run', async (_what, more, message) => {
  expect(await run(request('touch refused', more))).toMatchObject({ exitCode: null, message: expect.stringMatching(message) })
  expect(existsSync(join(folder, 'refused'))).toBe(false)
})

test('time and output are bounded', async () => {
  expect(await run(request('sleep 1000', { timeoutMs: 200 }))).toMatchObject({ timedOut: true, message: expect.any(String) })
  const much = await run(request('head -c 100000 /dev/zero | tr "\\0" x', { outputBytes: 1_000 }))
  expect(much).toMatchObject({ exitCode: 0, stdoutBytes: 100_000 })
  expect(much.stdout).toHaveLength(1_000)
  const bounded = openSandboxCommands({
    sandbox: bench.sandbox,
    folder,
    hidden: [],
    network: false,
    limits: { outputBytes: 50_000, memoryBytes: 64 * 1024 * 1024 },
  })
  expect(await run(request('yes'), never, bounded)).toMatchObject({ message: 'ended: it printed too much' })
  const hoards = `python3 -c "x = bytearray(b'x') * (512 << 20)"`
  expect(await run(request(hoards), never, bounded)).toMatchObject({ exitCode: null, message: 'ended: it used too much memory' })
  await bounded.close()
})

test.each([
  ['many files', 'for i in $(seq 100); do head -c 1000000 /dev/zero > full$i; done; sleep 1000'],
  [
    'a file that is too deep to be seen',
    'for i in $(seq 30); do mkdir $N; cd $N; done; head -c 1000000 /dev/zero > f; sleep 1000',
  ],
  ['names without bytes', 'for i in $(seq 5000); do : > n$i; done; sleep 1000'],
])('a command that fills the disk is ended, and no other begins until there is room: %s', async (_what, script) => {
  const own = join(bench.folder, `full-${Math.random()}`)
  await mkdir(own)
  const limits = { folderBytes: 20_000_000, folderEntries: 1_000 }
  const bounded = openSandboxCommands({ sandbox: bench.sandbox, folder: own, hidden: [], network: false, limits })
  const named = `N=$(printf 'a%.0s' $(seq 200)); ${script}`
  expect(await run(request(named, { folder: own }), never, bounded)).toMatchObject({
    exitCode: null,
    timedOut: false,
    message: 'ended: the working folder holds more than it may',
  })
  const refused = { exitCode: null, message: expect.stringContaining('holds more than it may; delete files') }
  expect(await run(request('echo more', { folder: own }), never, bounded)).toMatchObject(refused)
  for (const name of await readdir(own)) await removeTree(join(own, name))
  expect(await run(request('echo room', { folder: own }), never, bounded)).toMatchObject({ out: 'room\n' })
  await bounded.close()
})

test('several at once wait for each other, and an abort ends what runs and what waits', async () => {
  const mark = 'plcmdmark'
  const controller = new AbortController()
  const all = Array.from({ length: 5 }, () => run(request(`cp /bin/sleep /tmp/${mark}; /tmp/${mark} 1000`), controller.signal))
  await expect.poll(() => processesLeft(process.pid, mark).filter((line) => line.includes(mark)).length).toBe(2)
  controller.abort()
  const outcomes = await Promise.all(all)
  expect(outcomes.filter(({ exitCode }) => exitCode === 0)).toEqual([])
  expect(outcomes.filter(({ message }) => message?.includes('before it began'))).toHaveLength(3)
  await expect.poll(() => processesLeft(process.pid, mark)).toEqual([])
  expect(await run(request('echo again'))).toMatchObject({ out: 'again\n' })
})

test('a link that is put in the place of the folder is not followed', async () => {
  const own = join(bench.folder, 'moved')
  const other = join(bench.folder, 'other')
  for (const path of [own, other]) await mkdir(path)
  await writeFile(join(other, 'secret'), 'told')
  const named = join(bench.folder, 'named')
  await symlink('moved', named)
  const held = openSandboxCommands({ sandbox: bench.sandbox, folder: named, hidden: [], network: false })
  await rm(named)
  await symlink('other', named)
  expect(await run(request('pwd; cat secret', { folder: named }), never, held)).toMatchObject({ out: `${own}\n` })
  await rename(own, `${own}-away`)
  await symlink('other', own)
  // Another box is needed for another reach.
  const outcome = await run(request('cat secret', { folder: named, reach: 'read-only' }), never, held)
  expect(outcome).toMatchObject({ exitCode: null, out: '', message: expect.stringContaining('not where the work began') })
  await held.close()
})

test('names that are held are asked for before each command, and covered anew where they were removed', async () => {
  const own = join(bench.folder, 'named-later')
  await mkdir(own)
  const path = join(own, 'settings')
  let placeholders: readonly Placeholder[] = []
  const names = () => ({ hidden: [], placeholders })
  const held = openSandboxCommands({ sandbox: bench.sandbox, folder: own, hidden: [], names, network: false })
  const write = request('rm -f settings; echo evil > settings; cat settings', { folder: own })
  expect(await run(write, never, held)).toMatchObject({ out: 'evil\n' })
  await rm(path)
  placeholders = [{ path, kind: 'file' }]
  expect(await run(write, never, held)).toMatchObject({ out: '' })
  await rm(path)
  expect(await run(write, never, held)).toMatchObject({ out: '' })
  expect(await readFile(path, 'utf8')).toBe('')
  await held.close()
  expect(await readdir(own)).toEqual([])
})

test('closing ends what runs, and nothing is begun any more', async () => {
  const own = openSandboxCommands({ sandbox: bench.sandbox, folder, hidden: [], network: false })
  const begun = Promise.withResolvers<void>()
  const running = own.run(request('echo on; sleep 1000'), () => begun.resolve(), never)
  await begun.promise
  await own.close()
  expect(await running).toMatchObject({ exitCode: null })
  expect(await run(request('echo late'), never, own)).toMatchObject({ exitCode: null, message: expect.any(String) })
})
