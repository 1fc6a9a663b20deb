import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, test } from 'vitest'
import { gone } from '../../fixture/gone.ts'
import { Scratch, childrenOf } from '../../fixture/parley.ts'

const SERVER = fileURLToPath(new URL('../../fixture/sdk-stdio-server.ts', import.meta.url))
const command = ['--', process.execPath, SERVER]

async function connect(url: string, token: string, capabilities = {}): Promise<Client> {
  const client = new Client({ name: 'sdk', version: '1' }, { capabilities })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  )
  return client
}

async function childPid(client: Client): Promise<number> {
  const { content } = await client.callTool({ name: 'pid', arguments: {} })
  return Number(JSON.parse(JSON.stringify(content))[0].text)
}

test('an SDK server on stdio is served to SDK clients: one child for all that cannot be asked, one each for the others', async () => {
  await using scratch = new Scratch()
  const proxy = await scratch.start(['proxy', '--port', '0', '--json', ...command])
  expect(proxy.ready).toEqual({
    url: expect.any(String),
    mcp: `${proxy.ready.url}/mcp`,
    ws: expect.stringMatching(/^ws:/),
    token: expect.any(String),
  })
  const { mcp, token } = proxy.ready
  const [a, b, c] = await Promise.all([connect(mcp, token), connect(mcp, token), connect(mcp, token, { elicitation: {} })])
  expect((await a.listTools()).tools.map(({ name }) => name)).toEqual(['pid', 'env'])
  const [ofA, ofB, ofC] = await Promise.all([childPid(a), childPid(b), childPid(c)])
  expect(ofB).toBe(ofA)
  expect(ofC).not.toBe(ofA)
  await Promise.all([a.close(), b.close(), c.close()])
  proxy.kill('SIGTERM')
  expect(await proxy.exited).toEqual({ code: 0, signal: null })
  await gone(ofA)
  await gone(ofC)
})

test('the child sees the usual variables and what --env names, nothing else', async () => {
  await using scratch = new Scratch()
  const env = { SECRET: 'mine', GIVEN: 'yes' }
  const proxy = await scratch.start(['proxy', '--port', '0', '--json', '--no-auth', '--env', 'GIVEN,LITERAL=a=b', ...command], {
    env,
  })
  const client = await connect(proxy.ready.mcp, 'anything')
  const { content } = await client.callTool({ name: 'env', arguments: {} })
  const seen = JSON.parse(JSON.parse(JSON.stringify(content))[0].text)
  expect(seen).toMatchObject({ GIVEN: 'yes', LITERAL: 'a=b', HOME: scratch.folder })
  expect(Object.keys(seen)).not.toContain('SECRET')
  await client.close()
})

test('the command runs on the exec-server that is named, in its folder and with its variables, and ends with the proxy', async () => {
  await using scratch = new Scratch()
  await using there = new Scratch()
  writeFileSync(join(there.folder, 'token'), 'a-token-that-has-thirty-two-characters', { mode: 0o600 })
  const token = join(there.folder, 'token')
  const executor = await there.start(['exec-server', '--json', '--token-file', token], { env: { SECRET: 'there', LANG: 'C' } })
  const options = ['--executor', executor.ready.url, '--executor-token-file', token, '--env', 'GIVEN']
  const proxy = await scratch.start(['proxy', '--port', '0', '--json', '--no-auth', ...options, ...command], {
    env: { GIVEN: 'here', LANG: 'other' },
  })
  const client = await connect(proxy.ready.mcp, 'anything')
  const { content } = await client.callTool({ name: 'env', arguments: {} })
  const seen = JSON.parse(JSON.parse(JSON.stringify(content))[0].text)
  expect(seen).toMatchObject({ GIVEN: 'here', HOME: there.folder, LANG: 'C' })
  expect(Object.keys(seen)).not.toContain('SECRET')
  const child = await childPid(client)
  await client.close()
  proxy.kill('SIGTERM')
  expect(await proxy.exited).toEqual({ code: 0, signal: null })
  await gone(child)
})

test('an exec-server that was killed and started again runs the command anew at the next call', async () => {
  await using scratch = new Scratch()
  await using there = new Scratch()
  const listen = ['exec-server', '--json', '--listen', `unix:${join(there.folder, 'exec.sock')}`]
  const first = await there.start(listen)
  const options = ['--port', '0', '--json', '--no-auth', '--executor', first.ready.url]
  const proxy = await scratch.start(['proxy', ...options, ...command])
  const client = await connect(proxy.ready.mcp, 'anything')
  const before = await childPid(client)
  first.kill('SIGKILL')
  await gone(before)
  await there.start(listen, { env: { LANG: 'another' } })
  await expect.poll(proxy.err, { timeout: 30_000 }).toContain('the executor is given up')
  const { content } = await client.callTool({ name: 'env', arguments: {} })
  expect(JSON.parse(JSON.parse(JSON.stringify(content))[0].text)).toMatchObject({ LANG: 'another' })
  expect(await childPid(client)).not.toBe(before)
  await client.close()
})

test.each([['proxy'], ['spawner']])('kill -9 of the %s leaves no child behind', async (victim) => {
  await using scratch = new Scratch()
  const proxy = await scratch.start(['proxy', '--port', '0', '--json', ...command])
  const client = await connect(proxy.ready.mcp, proxy.ready.token)
  const child = await childPid(client)
  const [spawner = 0] = childrenOf(proxy.pid)
  process.kill(victim === 'proxy' ? proxy.pid : spawner, 'SIGKILL')
  await gone(child)
  await gone(spawner)
  if (victim === 'spawner') {
    // The proxy itself goes on with a new spawner and a new child; a call that it made before it noticed is lost, and said so.
    const next = async () => await childPid(client).catch(() => child)
    await expect.poll(next).not.toBe(child)
  }
  await client.close().catch(() => {})
})

test('a URL is proxied too, with a token of its own on either side', async () => {
  await using scratch = new Scratch()
  const inner = await scratch.start(['proxy', '--port', '0', '--json', ...command])
  writeFileSync(join(scratch.folder, 'inner'), inner.ready.token)
  writeFileSync(join(scratch.folder, 'outer'), 'outer-token\n')
  for (const name of ['inner', 'outer']) chmodSync(join(scratch.folder, name), 0o644)
  const outer = await scratch.start([
    'proxy',
    '--port',
    '0',
    '--json',
    '--token-file',
    'outer',
    '--upstream-token-file',
    'inner',
    inner.ready.mcp,
  ])
  expect(outer.ready.token).toBe(null)
  await expect.poll(outer.err).toContain('warning: --token-file outer: others on this machine can read this token')
  await expect.poll(outer.err).toContain('warning: --upstream-token-file inner: others on this machine can read this token')
  const client = await connect(outer.ready.mcp, 'outer-token')
  expect(await childPid(client)).toBeGreaterThan(1)
  await client.close()
  await expect(connect(outer.ready.mcp, inner.ready.token)).rejects.toThrow('unknown_token')
})

test.each([
  [['proxy'], 2, 'usage', '-- and a command'],
  [['proxy', 'http://x/', '--', 'cat'], 2, 'usage', 'either'],
  [['proxy', 'ftp://x/'], 2, 'usage', 'ftp://x/'],
  [['proxy', 'python3', 'srv.py'], 2, 'usage', 'a command goes after --: parley proxy -- python3 srv.py'],
  [['proxy', '--port', '0', '--', 'no-such-server'], 1, 'spawn_failed', 'no-such-server'],
  [['proxy', '--port', '0', '--no-auth', '--host', '0.0.0.0', '--insecure', '--', 'cat'], 2, 'usage', '--no-auth'],
  [['proxy', '--port', '0', '--host', '0.0.0.0', '--', 'cat'], 1, 'plain_beyond_loopback', '0.0.0.0'],
  [['proxy', '--port', '0', '--env', 'NOT_SET', '--', 'cat'], 2, 'usage', 'NOT_SET'],
])('%j fails in one line', async (args, exit, code, names) => {
  await using scratch = new Scratch()
  const { code: ended, err } = await scratch.run([args[0] ?? '', '--json', ...args.slice(1)])
  const last = err.trim().split('\n').at(-1) ?? ''
  expect(JSON.parse(last)).toMatchObject({ error: { code } })
  expect(last).toContain(names)
  expect(ended).toBe(exit)
})
