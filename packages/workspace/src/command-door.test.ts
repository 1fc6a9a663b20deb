import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type CommandRequest, openCompositor, linkedServer, type MountDecision } from '@parley/agent'
import { contractTools } from '@parley/agent/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandDoor, openCommandDoor } from './command-door.ts'
import { type Bench, openBench } from './fixture/open-bench.ts'
import { type SandboxCommands, openSandboxCommands } from './sandbox-commands.ts'

/** An agent with one mount, its commands, and what its gate decides next. */
interface Boxed {
  readonly door: CommandDoor
  readonly commands: SandboxCommands
  readonly folder: string
  decide: () => MountDecision | Promise<MountDecision>
  readonly callers: string[]
}

let bench: Bench
let one: Boxed
let other: Boxed
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  bench = await openBench()
  one = await openBoxed('one')
  other = await openBoxed('other')
})
afterAll(async () => {
  for (const close of closing) await close()
  await bench[Symbol.asyncDispose]()
})

async function openBoxed(name: string): Promise<Boxed> {
  const folder = join(bench.folder, name)
  await mkdir(folder)
  const callers: string[] = []
  const boxed = { folder, callers, decide: (): MountDecision | Promise<MountDecision> => ({ kind: 'allow' }) }
  const compositor = await openCompositor({
    info: { name: 'parley', version: '1' },
    gate: {
      decide: ({ caller }, wait) => {
        callers.push(caller.key)
        wait.held()
        return boxed.decide()
      },
    },
    connect: () => {
      const server = linkedServer(contractTools(), { key: 'test' })
      if (server.kind !== 'linked') throw new TypeError('it is linked')
      return Promise.resolve(server.open())
    },
    log: () => undefined,
    now: Date.now,
  })
  compositor.attach({ name: 'kit' })
  const door = await openCommandDoor({
    service: compositor,
    caller: { key: 'box' },
    socketPath: join(bench.folder, `${name}.sock`),
  })
  const commands = openSandboxCommands({ sandbox: bench.sandbox, folder, hidden: [], network: false, door })
  closing.push(
    () => commands.close(),
    () => door.close(),
    () => compositor.close(),
  )
  return Object.assign(boxed, { door, commands })
}

const never = new AbortController().signal
const order = ({ folder }: Boxed, script: string): CommandRequest => ({
  argv: ['bash', '-c', script],
  folder,
  timeoutMs: 60_000,
  reach: 'workspace-write',
  network: false,
  outputBytes: 100_000,
})
async function run(boxed: Boxed, script: string) {
  const heard: string[] = []
  const outcome = await boxed.commands.run(
    order(boxed, script),
    (_stream, bytes) => heard.push(Buffer.from(bytes).toString()),
    never,
  )
  const [out, err] = [Buffer.from(outcome.stdout).toString(), Buffer.from(outcome.stderr).toString()]
  return { exitCode: outcome.exitCode, out, err, heard: heard.join('') }
}
/** Dials by hand: what it says, and what comes back until the end. */
const dial = (said: string): string => `python3 -c "
import os, socket
host, port = os.environ['PARLEY_AGENT_SOCKET'].split(':')
way = socket.create_connection((host, int(port)))
try: way.sendall(${said})
except OSError: pass
way.settimeout(30)
try: print(way.recv(4096).decode())
except OSError as error: print(error.strerror)"`

test('a command lists the tools of its agent, and calls one', async () => {
  const listed = await run(one, 'parley-agent list')
  expect(listed).toMatchObject({ exitCode: 0, err: '' })
  expect(listed.out).toMatch(/^kit_echo\t/m)
  expect(await run(one, `parley-agent call kit_echo '{"text":"hello"}'`)).toMatchObject({ exitCode: 0, out: 'hello\n', err: '' })
  expect(await run(one, `echo '{"text":"piped"}' | parley-agent call kit_echo -`)).toMatchObject({ exitCode: 0, out: 'piped\n' })
  expect(new Set(one.callers)).toEqual(new Set(['box']))
})

test('what is denied says why, and what a person is asked about waits for the answer', async () => {
  one.decide = () => ({ kind: 'deny', reason: 'not on a Sunday', endsTurn: false })
  const denied = await run(one, `parley-agent call kit_echo '{"text":"hello"}'`)
  expect(denied).toMatchObject({ exitCode: 1, out: '' })
  expect(denied.err).toContain('not on a Sunday')
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<MountDecision>()
  one.decide = () => (asked.resolve(), answer.promise)
  const running = run(one, `parley-agent call kit_echo '{"text":"hello"}'`)
  await asked.promise
  answer.resolve({ kind: 'allow', arguments: { text: 'as a person changed it' } })
  expect(await running).toMatchObject({ exitCode: 0, out: expect.stringContaining('as a person changed it') })
  one.decide = () => ({ kind: 'allow' })
})

test('a call under way ends with its command, and its token is refused from then on', async () => {
  const token = /^[\w-]{43}$/
  await run(one, 'printf %s "$PARLEY_AGENT_TOKEN" > token')
  const kept = await run(
    one,
    `grep -cE '${token.source.replaceAll(String.raw`\w`, 'A-Za-z0-9_')}' token; PARLEY_AGENT_TOKEN=$(cat token) parley-agent list`,
  )
  expect(kept).toMatchObject({ exitCode: 1, out: '1\n', err: 'parley-agent: the first line is not a token that is good here\n' })
  const asked = Promise.withResolvers<void>()
  one.decide = () => (asked.resolve(), { kind: 'allow' })
  // It waits for as long as its caller does.
  const waiting = run(one, `mkfifo go; parley-agent call kit_wait & cat go`)
  await asked.promise
  await run(one, 'echo > go')
  await waiting
  await expect.poll(() => one.door.holds()).toEqual({ connections: 0, waiting: 0 })
})

test('a token stands in nothing that a command says, whatever it is cut into', async () => {
  const said = await run(
    one,
    'echo "a $PARLEY_AGENT_TOKEN b"; for i in $(seq 43); do printf %s "${PARLEY_AGENT_TOKEN:i-1:1}"; done; echo; env >&2',
  )
  expect(said.out).toBe('a •••• b\n••••\n')
  expect(said.err).toContain('PARLEY_AGENT_TOKEN=••••\n')
  expect(said.heard).toContain('a •••• b\n••••\n')
  expect(said.heard).not.toMatch(/TOKEN=[^•]/)
})

test('a command of another agent finds its own alone', async () => {
  const running = Promise.withResolvers<string>()
  const reversed: number[] = []
  other.decide = () => ({ kind: 'deny', reason: 'this is the other', endsTurn: false })
  const sleeping = one.commands.run(
    order(one, 'mkfifo wait; printf %s "$PARLEY_AGENT_TOKEN" | rev; echo; cat wait'),
    (_stream, bytes) => {
      reversed.push(...bytes)
      if (reversed.length >= 43) running.resolve(Buffer.from(reversed.slice(0, 43).toReversed()).toString())
    },
    never,
  )
  const token = await running.promise
  const stolen = await run(
    other,
    `PARLEY_AGENT_TOKEN=${token} parley-agent list; ls ${bench.folder}; parley-agent call kit_echo '{"text":"x"}'`,
  )
  expect(stolen.err).toMatch(/not a token that is good here[^]*this is the other/)
  expect(stolen.out).not.toContain('one')
  await run(one, 'echo go > wait')
  await sleeping
})

test.each([
  ['a hostile first line', dial(String.raw`b'GET / HTTP/1.1\r\n\r\n'`), /not a token that is good here/],
  ['a huge first line', dial(`b'x' * 3000000`), /256 bytes at most|reset/],
  ['half a line that ends', dial(`b'half'); way.shutdown(1`), /^\n/],
])('%s harms nobody', async (_what, script, words) => {
  const said = await run(one, `${script}; echo; parley-agent list | head -1 | cut -f1`)
  expect(said.out).toMatch(words)
  expect(said.out).toMatch(/\n[a-z]+_[a-z_]+\n$/)
  await expect.poll(() => one.door.holds()).toEqual({ connections: 0, waiting: 0 })
})

test('a command that opens a thousand connections keeps itself out, and no other command of its agent', async () => {
  const hoard = `python3 -c "
import socket, os
held = []
host, port = os.environ['PARLEY_AGENT_SOCKET'].split(':')
for count in range(1000):
    s = socket.socket(); s.setblocking(False); s.connect_ex((host, int(port))); held.append(s)
print('held', flush=True)
open('wait2').read()"`
  await run(one, 'mkfifo wait2')
  const held = Promise.withResolvers<void>()
  const hoarding = one.commands.run(order(one, hoard), () => held.resolve(), never)
  await held.promise
  expect(await run(one, `parley-agent call kit_echo '{"text":"still here"}'; echo go > wait2`)).toMatchObject({
    exitCode: 0,
    out: 'still here\n',
  })
  await hoarding
  await expect.poll(() => one.door.holds()).toEqual({ connections: 0, waiting: 0 })
})
