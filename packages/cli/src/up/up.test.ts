import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ownLoopback } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { inShell } from '../wording/program.ts'
import { gone } from '../fixture/gone.ts'
import { MANY_PROCESSES, Scratch, childrenOf } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

const isAnswering = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )

test('up serves the page and both wires, says so in one line of JSON, and ends cleanly', async () => {
  await using scratch = new Scratch()
  const up = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  const port = Number(new URL(up.ready.url).port)
  expect(up.ready).toEqual({
    url: `http://127.0.0.1:${port}`,
    mcp: `http://127.0.0.1:${port}/mcp`,
    ws: `ws://127.0.0.1:${port}/api/mcp/ws`,
    sign_in: expect.stringContaining(`http://127.0.0.1:${port}/#`),
    admin: 'admin',
    data: scratch.data,
  })
  expect(await isAnswering(up.ready.url)).toBe(true)
  expect(statSync(scratch.data).mode & 0o777).toBe(0o700)
  expect(statSync(join(scratch.data, 'secret')).mode & 0o777).toBe(0o600)
  expect(statSync(join(scratch.data, 'admin.sock')).mode & 0o777).toBe(0o600)
  const [gateway = 0] = childrenOf(up.pid)
  up.kill('SIGTERM')
  expect(await up.exited).toEqual({ code: 0, signal: null })
  await gone(gateway)
})

test('every start gives a link that works once, until the first admin has a password', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const first = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  const exchange = async () => {
    const token = new URLSearchParams(new URL(first.ready.sign_in).hash.slice(1)).get('link')
    const reply = await fetch(`${first.ready.url}/api/auth/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    return reply.status
  }
  expect(await exchange()).toBe(200)
  expect(await exchange()).toBe(401)
  first.kill('SIGINT')
  await first.exited
  const second = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  expect(second.ready).toMatchObject({ admin: 'admin', sign_in: expect.stringContaining('/#link=') })
  expect(second.ready.sign_in).not.toBe(first.ready.sign_in)
  await scratch.run(['user', 'passwd', 'admin', '--data', scratch.data], { input: 'correct horse battery\n' })
  second.kill('SIGTERM')
  await second.exited
  const third = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  expect(third.ready).toMatchObject({ admin: 'admin', sign_in: null })
})

test.each([['up', '--no-judge'], ['gateway']])(
  '%s says in words how to sign in, with commands that can be typed',
  async (...start) => {
    await using scratch = new Scratch()
    const say = async (): Promise<string> => {
      const { command, env } = scratch.launch([...start, '--port', '0', '--data', 'my data'])
      const child = spawn(command[0], command.slice(1), {
        cwd: scratch.folder,
        env: { ...env, PATH: '' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = new Promise((resolve) => child.once('exit', resolve))
      let said = ''
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        said += String(chunk)
        if (said.includes('user passwd') || said.includes('user link')) break
      }
      child.kill('SIGTERM')
      await exited
      return said
    }
    const first = await say()
    if (start[0] === 'up') expect(first).toMatch(/^ {2}judge {2}none \(--no-judge\)\n {2}host {3}starting$/m)
    expect(first).toMatch(/Sign in as admin by this link\. It works once, within 15 minutes:\n {2}http:\S+#link=/)
    expect(first).toContain(
      'admin has no password yet; tokens made before it has one end with it, its agents’ too, unless --keep-tokens is given.',
    )
    const [, program = ''] = /with: (\S+) user passwd admin --data 'my data'\n/.exec(first) ?? []
    expect(program).toMatch(/\/bin\/parley$/)
    const line = `printf 'correct horse battery\\n' | ${program} user passwd admin --data 'my data'`
    execFileSync('sh', ['-c', line], { cwd: scratch.folder, env: scratch.launch([]).env })
    const second = await say()
    expect(second).toContain(
      `with the password. This makes a one-time link instead: ${program} user link admin --data 'my data'\n`,
    )
    expect(second).not.toContain('#link=')
  },
  120_000,
)

test('a gateway that is killed comes back on the same port, with the same accounts', async () => {
  await using scratch = new Scratch()
  // While it is dead nobody else may take its port.
  const up = await scratch.start(['up', '--no-judge', '--host', ownLoopback(), '--port', '0', '--data', scratch.data, '--json'])
  await commandsHere(scratch).json(['user', 'add', 'ann', '--data', scratch.data])
  const [before = 0] = childrenOf(up.pid)
  process.kill(before, 'SIGKILL')
  await gone(before)
  await expect.poll(() => isAnswering(up.ready.url)).toBe(true)
  const { items } = await commandsHere(scratch).json(['user', 'list', '--data', scratch.data])
  expect(items).toMatchObject([{ username: 'admin' }, { username: 'ann' }])
  expect(childrenOf(up.pid)).not.toContain(before)
})

test('kill -9 of the supervisor ends the gateway and the host', async () => {
  await using scratch = new Scratch()
  const up = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  await expect.poll(() => up.err(), { timeout: 60_000 }).toMatch(/The host \S+ is ready/)
  const children = childrenOf(up.pid)
  expect(children).toHaveLength(2)
  process.kill(up.pid, 'SIGKILL')
  for (const child of children) await gone(child)
  expect(await isAnswering(up.ready.url)).toBe(false)
})

test('a second signal ends it at once', async () => {
  await using scratch = new Scratch()
  const up = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  const [gateway = 0] = childrenOf(up.pid)
  // A stopped process cannot end in order, so only force is left.
  process.kill(gateway, 'SIGSTOP')
  up.kill('SIGINT')
  await expect.poll(() => up.err()).toContain('once more forces it')
  up.kill('SIGINT')
  await up.exited
  await gone(gateway)
})

test('a taken port is named, and so is the way out', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const plain = await scratch.run(['up', '--port', port, '--data', scratch.data])
  expect(plain).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`port ${port} on 127.0.0.1 is taken`) })
  expect(plain.err).toContain('--port 0')
  expect(plain.err.trim().split('\n')).toHaveLength(1)
  const asJson = await scratch.run(['up', '--port', port, '--data', scratch.data, '--json'])
  expect(JSON.parse(asJson.err)).toEqual({
    error: { code: 'port_taken', message: `port ${port} on 127.0.0.1 is taken`, hint: expect.stringContaining('--port 0') },
  })
  await new Promise((resolve) => taken.close(resolve))
})

test('a second up on the same folder is refused and leaves the first alone', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const up = await scratch.start(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  const second = await scratch.run(['up', '--no-judge', '--port', '0', '--data', scratch.data, '--json'])
  expect(second.code).toBe(1)
  const link = `parley user link admin --data ${inShell(scratch.data)}`
  expect(JSON.parse(second.err)).toEqual({
    error: {
      code: 'locked',
      message: `Parley runs already on the data folder ${scratch.data}`,
      hint: `${link} makes a sign-in link that names its address; --data chooses another folder`,
    },
  })
  expect(await commandsHere(scratch).json(['user', 'list', '--data', scratch.data])).toMatchObject({
    items: [{ username: 'admin' }],
  })
  expect(await isAnswering(up.ready.url)).toBe(true)
})

test.each([
  [['up', '--port', 'many'], 'config_invalid', '--port', 2],
  [['up', '--host', '0.0.0.0', '--port', '0'], 'plain_beyond_loopback', '0.0.0.0', 1],
  [['gateway', '--tls-cert', '/no/such.pem', '--tls-key', '/no/such.key', '--port', '0'], 'tls_unreadable', '/no/such.pem', 1],
  [['up', '--database', 'mysql://x/y', '--port', '0'], 'config_invalid', '--database', 2],
])('%j does not start and says why', async (args, code, names, ends) => {
  await using scratch = new Scratch()
  const { code: exit, err } = await commandsHere(scratch).run([...args, '--data', scratch.data, '--json'])
  const lines = err.trim().split('\n')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(err)).toMatchObject({ error: { code } })
  expect(err).toContain(names)
  expect(exit).toBe(ends)
})

test('a secret that others can read, and another secret than that of the database, stop the start', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  const gateway = ['gateway', '--port', '0', '--data', scratch.data]
  const first = await scratch.start([...gateway, '--json'])
  first.kill('SIGTERM')
  expect(await first.exited).toEqual({ code: 0, signal: null })
  const other = await scratch.run([...gateway, '--json'], { env: { PARLEY_SECRET: 'x'.repeat(40) } })
  expect(JSON.parse(other.err)).toMatchObject({
    error: {
      code: 'secret_mismatch',
      message: 'this database belongs to another PARLEY_SECRET',
      hint: expect.stringContaining('DATA/secret or PARLEY_SECRET'),
    },
  })
  const path = join(scratch.data, 'secret')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, 'short\n')
  expect(JSON.parse((await scratch.run([...gateway, '--json'])).err)).toMatchObject({ error: { code: 'secret_damaged' } })
  writeFileSync(path, text)
  chmodSync(path, 0o644)
  expect(JSON.parse((await scratch.run([...gateway, '--json'])).err)).toMatchObject({
    error: { code: 'secret_exposed', hint: `chmod 600 ${path}` },
  })
  const again = await scratch.start([...gateway, '--json'], { env: { PARLEY_SECRET: text.trim() } })
  expect(await isAnswering(again.ready.url)).toBe(true)
})
