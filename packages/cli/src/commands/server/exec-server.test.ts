import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExecProcess, openExecutor } from '@parley/executor'
import { dialFrames } from '@parley/rpc/frame'
import { afterAll, expect, test } from 'vitest'
import { gone } from '../../fixture/gone.ts'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

const scratch = new Scratch()
const { run } = commandsHere(scratch)
afterAll(() => scratch[Symbol.asyncDispose]())

const TOKEN = 'a-token-that-has-thirty-two-characters'
const sh = (script: string) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script] as const,
  env: {},
  cwd: '/',
  tty: false,
  pipeStdin: true,
})

async function outputOf(process: ExecProcess): Promise<string> {
  await expect.poll(async () => (await process.read({})).chunks.length).toBeGreaterThan(0)
  const { chunks } = await process.read({})
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
}

test.each([
  [['--listen', 'http://127.0.0.1:1'], '--listen must be ws://ADDRESS:PORT, unix:PATH or stdio'],
  [['--listen', 'ws://127.0.0.1:1/path'], '--listen must be'],
  [['--listen', 'unix:'], '--listen unix: needs a path'],
  [['--listen', 'wss://127.0.0.1:0'], 'wss:// goes with --tls-cert'],
  [['--listen', 'ws://0.0.0.0:0'], 'reachable from other machines'],
  [['--listen', 'ws://0.0.0.0:0', '--insecure'], 'give --token-file'],
  [['--listen', 'stdio', '--token-file', 'token'], '--token-file is for sockets'],
  [['--token-file', 'short'], 'has 5 characters, fewer than 32'],
  [['--token-file', 'nowhere'], 'there is no such file'],
  [['--root', 'nowhere'], '--root nowhere: there is no such file or folder'],
  [['--root', 'token'], '--root token is not a folder'],
])('exec-server %j says what is wrong', async (args, words) => {
  writeFileSync(join(scratch.folder, 'token'), TOKEN, { mode: 0o600 })
  writeFileSync(join(scratch.folder, 'short'), 'short', { mode: 0o600 })
  const { code, out, err } = await run(['exec-server', ...args])
  expect({ out, err }).toEqual({ out: '', err: expect.stringContaining(words) })
  expect(code).not.toBe(0)
})

test('over a WebSocket with a token: ready, a process runs, and everything ends with it', MANY_PROCESSES, async () => {
  writeFileSync(join(scratch.folder, 'token'), TOKEN, { mode: 0o600 })
  const server = await scratch.start(['exec-server', '--json', '--token-file', 'token'])
  const { url } = server.ready
  expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(`${url.replace('ws', 'http')}/readyz`)).status).toBe(200)
  await expect(dialFrames({ url })).rejects.toMatchObject({ code: 'unauthorized' })
  const executor = await openExecutor({ dial: () => dialFrames({ url, token: TOKEN }), clientName: 'test', recoveryMs: 0 })
  const process = await executor.start(sh('echo $$; exec sleep 1000'))
  const pid = Number(await outputOf(process))
  server.kill('SIGTERM')
  expect((await server.exited).code).toBe(0)
  await gone(pid)
  await process.ended
  await expect(process.read({})).rejects.toMatchObject({ code: 'executor_lost' })
})

test('kill -9 of an exec-server leaves none of its processes', MANY_PROCESSES, async () => {
  const server = await scratch.start(['exec-server', '--json', '--listen', 'unix:exec.sock'])
  const path = join(scratch.folder, 'exec.sock')
  expect(server.ready.url).toBe(`unix:${path}`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const second = await scratch.run(['exec-server', '--listen', 'unix:exec.sock'])
  expect(second).toEqual({ code: 1, out: '', err: expect.stringContaining('is served by another process') })
  const executor = await openExecutor({ dial: () => dialFrames({ url: server.ready.url }), clientName: 'test', recoveryMs: 0 })
  const process = await executor.start(sh('trap "" TERM HUP; sleep 1000 & echo $$ $!; wait; sleep 1000'))
  const pids = (await outputOf(process)).trim().split(' ')
  server.kill('SIGKILL')
  for (const pid of pids) await gone(Number(pid))
})

test('on stdio it speaks the protocol alone, and the end of input ends it with all it started', MANY_PROCESSES, async () => {
  const { command, env } = scratch.launch(['exec-server', '--listen', 'stdio'])
  const { spawn } = await import('node:child_process')
  const child = spawn(command[0], command.slice(1), { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  child.stdout.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n').filter(Boolean)))
  const say = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  say({ id: 1, method: 'initialize', params: { clientName: 'test', detachMs: 60_000 } })
  say({ method: 'initialized' })
  say({ id: 2, method: 'process/start', params: { ...sh('trap "" TERM; echo $$; exec sleep 1000'), cwd: 'file:///' } })
  await expect.poll(() => lines.length).toBeGreaterThan(2)
  const output = lines.map((line) => JSON.parse(line)).find(({ method }) => method === 'process/output')
  const exited = once(child, 'exit')
  child.stdin.end()
  expect(await exited).toEqual([0, null])
  await gone(Number(Buffer.from(output.params.chunk, 'base64').toString()))
})
