import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type Server, type Socket, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BoxProfile, LiveProgram, LiveRequest, Sandbox } from '../index.ts'
import { ROOMY, type Scratch, scratch } from '../testing/scratch.ts'

let from: Scratch
let sandbox: Sandbox
let data: string
let work: string
let home: string
let socketPath: string
let owner: Server
const PORT = 41_000
/** Only root can have the first. */
const TIERS = (['root', 'user-namespaces'] as const).slice(process.getuid?.() === 0 ? 0 : 1)

const filling = new Set<Socket>()

/** Sends more than anybody reads. */
function fill(socket: Socket): void {
  filling.add(socket)
  if (socket.destroyed) return
  while (socket.write(Buffer.alloc(65_536))) continue
  socket.once('drain', () => fill(socket))
}

beforeAll(async () => {
  from = await scratch()
  sandbox = await from.open()
  // Not below /tmp: there a box has nothing of the host's to hide.
  data = join('/var/tmp', `parley-live-${process.pid}`)
  work = join(data, 'job', 'work')
  home = join(data, 'job', 'home')
  socketPath = join(data, 'out.sock')
  await Promise.all([mkdir(work, { recursive: true }), mkdir(home, { recursive: true })])
  await writeFile(join(data, 'secret'), 'secret')
  owner = createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      bytes += chunk.length
      const word = chunk.toString()
      if (word === 'end') socket.end('ended', () => socket.destroy())
      if (word === 'fill') fill(socket)
      if (word === 'drop') {
        for (const filled of filling) filled.destroy()
        socket.end('dropped')
      }
    })
    socket.on('end', () => socket.end(`heard ${bytes}`))
  })
  owner.listen({ path: socketPath, writableAll: true })
  await once(owner, 'listening')
})
afterAll(async () => {
  owner.close()
  await from[Symbol.asyncDispose]()
  await rm(data, { recursive: true, force: true })
})

const profile = (): BoxProfile => ({
  kind: 'workspace',
  folder: work,
  hidden: [data],
  writable: true,
  alsoWritable: [home],
  network: { kind: 'proxy', port: PORT, socketPath, localSockets: true },
})

function start(script: string, more: Partial<LiveRequest> = {}, signal?: AbortSignal, by = sandbox): Promise<LiveProgram> {
  if (by.start === undefined) throw new Error('this machine has no sandbox with a network of its own')
  return by.start(profile(), { argv: ['/bin/bash', '-c', script], limits: ROOMY, ...more }, signal)
}

test('a program is talked to while it runs, as long as it likes, and its end is told', async () => {
  const program = await start('while read -r line; do echo "got $line"; echo "err $line" >&2; done; exit 3')
  program.stdout.setEncoding('utf8')
  const heard: string[] = []
  for (const word of ['one', 'two']) {
    program.stdin.write(`${word}\n`)
    heard.push(String((await once(program.stdout, 'data'))[0]))
  }
  const [rest, errors] = [text(program.stdout), text(program.stderr)]
  program.stdin.end()
  expect(await program.ended).toMatchObject({ status: 'nonzero', exitCode: 3 })
  expect([heard, await rest, await errors]).toEqual([['got one\n', 'got two\n'], '', 'err one\nerr two\n'])
})

test('more than any buffer goes both ways, as fast as it is read', async () => {
  const program = await start('cat')
  const bytes = Buffer.alloc(3_000_000, 'x')
  program.stdin.end(bytes)
  expect((await text(program.stdout)).length).toBe(bytes.length)
  expect(await program.ended).toMatchObject({ status: 'ok' })
})

test.each(TIERS)('its one way out is a port of its own loopback and leads to its owner alone (%s)', async (tier) => {
  const big = 'head -c 300000 /dev/zero | python3 -c "'
  const talk =
    "import socket,sys; s=socket.create_connection(('127.0.0.1', 41000)); s.sendall(sys.stdin.buffer.read()); s.shutdown(1); print(s.recv(99).decode())\""
  const many = `for i in 1 2 3; do (${big}${talk}) & done; wait`
  const beyond = `for to in 1.1.1.1/443 127.0.0.1/22; do (exec 3<>/dev/tcp/$to) 2>&1 | grep -o 'unreachable\\|refused' | head -1; done`
  const held = await from.open({ tier })
  const program = await start(`${many}; ${beyond}`, {}, undefined, held)
  program.stdin.end()
  expect(await text(program.stdout)).toBe('heard 300000\n'.repeat(3) + 'unreachable\nrefused\n')
  expect(await program.ended).toMatchObject({ status: 'ok' })
})

test('connections that their owner has ended are in the way of nobody, though the program keeps its side of them', async () => {
  const talk = `
import socket
def dial(first):
    s = socket.create_connection(('127.0.0.1', ${PORT}))
    s.settimeout(60)
    s.sendall(first)
    return s
# What the owner sends is never read, or its end is never answered; both are kept.
kept = [dial(b'fill') for i in range(60)]
for s in kept:
    s.recv(1)
print(dial(b'drop').recv(99).decode())
for i in range(240):
    s = dial(b'end')
    s.recv(1)
    kept.append(s)
last = dial(b'hello')
last.shutdown(1)
print(last.recv(99).decode())`
  await writeFile(join(work, 'dial.py'), talk)
  // What the kernel keeps for sixty connections that nobody reads counts as memory of the program where there is no cgroup.
  const limits = { ...ROOMY, memoryBytes: 1024 * 1024 * 1024, openFiles: 512, wallMs: 100_000 }
  const program = await start('python3 dial.py', { limits })
  program.stdin.end()
  const [out, err] = await Promise.all([text(program.stdout), text(program.stderr)])
  expect([out, err]).toEqual(['dropped\nheard 5\n', ''])
})

test('folders inside of what is hidden are there to write, as their owner, and nothing beside them', async () => {
  const program = await start(
    `echo here > made; echo too > ${home}/made; ls -A ${data} ${data}/job; cat ${data}/secret; touch ${data}/x`,
  )
  program.stdin.end()
  const [out, err] = await Promise.all([text(program.stdout), text(program.stderr)])
  expect(out).toBe(`${data}:\njob\nout.sock\n\n${data}/job:\nhome\nwork\n`)
  expect(err).toMatch(/secret: No such file.*\n.*x.*: Read-only file system/)
  await program.ended
  expect([await readFile(join(work, 'made'), 'utf8'), await readFile(join(home, 'made'), 'utf8')]).toEqual(['here\n', 'too\n'])
})

test('killing it ends all inside, and so does the signal', async () => {
  const stop = new AbortController()
  for (const end of [(program: LiveProgram) => program.kill(), () => stop.abort()]) {
    const program = await start('sleep 1000 & echo up; sleep 1000', {}, stop.signal)
    await once(program.stdout, 'data')
    end(program)
    expect(await program.ended).toMatchObject({ status: 'signal', signal: 'SIGKILL' })
    expect(await text(program.stdout)).toBe('')
  }
})

test('limits hold for it as for any program', async () => {
  const program = await start('echo up; sleep 1000', { limits: { ...ROOMY, wallMs: 300 } })
  expect(await text(program.stdout)).toBe('up\n')
  expect(await program.ended).toMatchObject({ status: 'wall-limit' })
})

test('a program that is not there is an outcome', async () => {
  const program = await start('', { argv: ['/no/such/program'] })
  expect(await program.ended).toMatchObject({ status: 'sandbox-error' })
})

test('without namespaces there is none of this', async () => {
  const weak = await from.open({ tier: 'landlock' })
  expect(weak.start).toBeUndefined()
  await expect(weak.openBox(profile())).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})
