import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Box, RunOutcome, Sandbox } from '../index.ts'
import { shell, type Scratch, scratch, textOf } from '../testing/scratch.ts'

let from: Scratch
let sandbox: Sandbox
let folder: string
let hidden: string
let box: Box

beforeAll(async () => {
  from = await scratch()
  sandbox = await from.open()
  folder = join(from.folder, 'work')
  hidden = join(folder, 'data')
  await mkdir(hidden, { recursive: true })
  await writeFile(join(hidden, 'secret'), 'secret')
  await writeFile(join(folder, 'file'), 'old')
  execFileSync('git', ['init', '-q', folder])
  box = await sandbox.openBox({ kind: 'workspace', folder, hidden: [hidden], writable: true })
})
afterAll(async () => {
  await box.close()
  await from[Symbol.asyncDispose]()
})

const errors = (outcome: RunOutcome): string => Buffer.from(outcome.stderr.bytes).toString()

test('the folder is where programs run, and they write in it as its owner', async () => {
  const outcome = await box.run(shell('pwd; cat file; echo new > file; echo made > made'))
  expect([outcome.status, textOf(outcome)]).toEqual(['ok', `${folder}\nold`])
  expect(await readFile(join(folder, 'file'), 'utf8')).toBe('new\n')
  const { uid, gid } = await stat(join(folder, 'made'))
  expect({ uid, gid }).toEqual({ uid: process.getuid?.(), gid: process.getgid?.() })
})

test('the hooks of its repository cannot be written', async () => {
  const outcome = await box.run(
    shell('echo evil > .git/hooks/pre-commit; mv .git/hooks .git/other; rm -rf .git/hooks; ls .git/hooks | wc -l'),
  )
  expect(errors(outcome)).toMatch(/Read-only file system/)
  expect(existsSync(join(folder, '.git/hooks/pre-commit'))).toBe(false)
  expect(existsSync(join(folder, '.git/hooks'))).toBe(true)
})

test('neither its configuration can be written nor the repository moved away', async () => {
  const outcome = await box.run(
    shell(
      'echo "[core] hooksPath=/x" >> .git/config; git config core.x y; mv .git other; rm -rf .git 2>/dev/null; grep -c hooksPath .git/config',
    ),
  )
  expect(errors(outcome)).toMatch(/\.git\/config: Read-only file system/)
  expect(errors(outcome)).toMatch(/cannot move '\.git'/)
  expect(textOf(outcome)).toBe('0\n')
})

test('what is said is heard while it is said', async () => {
  const heard: string[] = []
  const asked = { ...shell('echo one; while [ ! -e go ]; do sleep 0.01; done; echo two >&2'), onOutput: tell }
  function tell(stream: string, bytes: Uint8Array): void {
    heard.push(`${stream}: ${Buffer.from(bytes).toString()}`)
    if (stream === 'stdout') void writeFile(join(folder, 'go'), '')
  }
  const outcome = await box.run(asked)
  expect([outcome.status, heard]).toEqual(['ok', ['stdout: one\n', 'stderr: two\n']])
  expect([textOf(outcome), errors(outcome)]).toEqual(['one\n', 'two\n'])
})

test('with the network of the host it reaches what listens there, and no local socket', async () => {
  await using open = await sandbox.openBox({ kind: 'workspace', folder, writable: true, network: 'host' })
  const server = createServer((socket) => void socket.end('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const dial = shell(`exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3; python3 -c 'import socket; socket.socket(socket.AF_UNIX)'`)
  const bash = { ...dial, argv: ['/bin/bash', '-c', dial.argv[2] ?? ''] as const }
  const [reached, not] = [await open.run(bash), await box.run(bash)]
  server.close()
  expect(textOf(reached)).toBe('hello')
  expect(errors(reached)).toMatch(/PermissionError/)
  expect(textOf(not)).toBe('')
})

test('homes and what is hidden are not there; the rest is there to read', async () => {
  const outcome = await box.run(
    shell(`ls -A ${hidden}; ls /root /home; cat ${from.folder}/uses; test -x /usr/bin/git && echo git; echo no > /etc/x`),
  )
  expect(textOf(outcome)).toBe('git\n')
  expect(errors(outcome)).toMatch(/\/root.*No such file/)
  expect(errors(outcome)).toMatch(/\/etc\/x: Read-only file system/)
})

test('there is no network but its own', async () => {
  const outcome = await box.run(
    shell(
      'cat /proc/net/dev | tail -n +3 | cut -d: -f1; python3 -c "import socket; socket.create_connection((\'192.0.2.1\', 80), 1)"',
    ),
  )
  expect(textOf(outcome).trim()).toBe('lo')
  expect(errors(outcome)).toMatch(/Network is unreachable/)
  const own =
    "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print('heard')"
  expect(textOf(await box.run(shell(`python3 -c "${own}"`)))).toBe('heard\n')
})

test('a folder that is not writable is read-only', async () => {
  await using reading = await sandbox.openBox({ kind: 'workspace', folder, writable: false })
  const outcome = await reading.run(shell('cat file; echo no > file'))
  expect(outcome.status).toBe('nonzero')
  expect(errors(outcome)).toMatch(/Read-only file system/)
})

test('a folder that is not there is refused', async () => {
  await expect(
    sandbox.openBox({ kind: 'workspace', folder: join(from.folder, 'nothing'), writable: true }),
  ).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})
