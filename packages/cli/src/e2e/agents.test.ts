import { randomBytes } from 'node:crypto'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { messageOf } from '@parley/protocol'
import { expect, test } from 'vitest'
import { AgentBench, EVERYTHING, ON_HOST, said, SDK_SERVER, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'

const SDK1 = fileURLToPath(new URL('../../../rpc/src/client/fixture/sdk1-stdio-main.ts', import.meta.url))
const ECHO = { name: 'files_echo', arguments: { text: 'hello' } }

test('a boxed server and one behind HTTP are served to our client and to the official one', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  const proxy = await bench.scratch.start(['proxy', '--port', '0', '--no-auth', '--json', '--', process.execPath, SDK1])
  const host = await bench.host('one')
  expect(host.ready).toEqual({ name: 'one', url: bench.gateway.url, slots: 256 })
  const id = await bench.agent('mine', {
    files: { kind: 'stdio', command: process.execPath, args: [SDK1] },
    far: { kind: 'http', url: proxy.ready.mcp },
  })
  const token = await bench.token(id)
  const ours = await bench.connect(token)
  for (const mount of ['files', 'far'])
    await expect.poll(() => toolsOf(ours, mount), { timeout: 60_000 }).toContain(`${mount}_echo`)
  expect(await said(ours, 'files_echo', { text: 'boxed' })).toBe('boxed')
  expect(await said(ours, 'far_echo', { text: 'far' })).toBe('far')
  const sdk = new Client({ name: 'sdk', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await sdk.connect(new StreamableHTTPClientTransport(new URL(bench.gateway.mcp), { requestInit: { headers } }))
  expect((await sdk.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['files_echo', 'far_echo']))
  expect(await sdk.callTool(ECHO)).toMatchObject({ content: [{ type: 'text', text: 'hello' }] })
  await sdk.close()
  // What a host says of its mounts comes a moment later.
  const states = async () =>
    (await bench.gateway.call('mount.list', { agent_id: id })).items.map(({ name, state }) => [name, state?.state])
  await expect.poll(states).toEqual(
    expect.arrayContaining([
      ['files', 'active'],
      ['far', 'active'],
    ]),
  )
  const folder = statSync(join(bench.scratch.folder, 'one', 'agents', id, 'mounts', 'files'))
  expect(folder.mode & 0o777).toBe(0o700)
})

test('the gate lets nothing through unless the installation says so', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open({ gate: 'deny' })
  await bench.host('one')
  const client = await bench.as(await bench.agent('mine', { srv: stdio(ON_HOST) }))
  await expect.poll(() => toolsOf(client, 'srv'), { timeout: 60_000 }).toEqual(['srv_pid', 'srv_env'])
  const answer = await client.callTool('srv_pid', {}).then((result) => JSON.stringify(result), messageOf)
  expect(answer).toContain('gate.default')
})

test(
  'a program sees the usual variables and its own, and what it is given is in no list and no log',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const secret = `s3cr3t-${randomBytes(8).toString('hex')}`
    const host = await bench.host('one')
    const env = [{ name: 'GIVEN', value: secret }]
    const shell = `echo "its token is $GIVEN" >&2; exec "$0" "$1"`
    const id = await bench.agent('mine', {
      here: stdio({ ...ON_HOST, env, command: '/bin/sh', args: ['-c', shell, process.execPath, SDK_SERVER] }),
      boxed: stdio({ env }),
      broken: stdio({ ...ON_HOST, env, command: '/bin/sh', args: ['-c', 'echo "$GIVEN" >&2; exit 3'] }),
      web: {
        kind: 'http',
        url: `http://127.0.0.1:9/mcp?key=${secret}`,
        headers: [{ name: 'authorization', value: `Bearer ${secret}` }],
      },
    })
    const client = await bench.as(id)
    for (const mount of ['here', 'boxed']) {
      await expect.poll(() => toolsOf(client, mount), { timeout: 60_000 }).toContain(`${mount}_env`)
      const seen: Record<string, string> = JSON.parse(await said(client, `${mount}_env`))
      expect(seen['GIVEN']).toBe(secret)
      const known = [
        'GIVEN',
        'HOME',
        'LANG',
        'LC_ALL',
        'LOGNAME',
        'OLDPWD',
        'PATH',
        'PWD',
        'SHELL',
        'SHLVL',
        'TERM',
        'TMPDIR',
        'TZ',
        'USER',
        '_',
      ]
      expect(Object.keys(seen).filter((name) => !known.includes(name))).toEqual([])
    }
    await expect.poll(() => host.err(), { timeout: 60_000 }).toContain('its token is ••••')
    const listed = async () => (await bench.gateway.call('mount.list', { agent_id: id })).items
    await expect
      .poll(async () => (await listed()).filter(({ state }) => state?.state === 'failed').map(({ name }) => name), {
        timeout: 60_000,
      })
      .toEqual(expect.arrayContaining(['broken', 'web']))
    const shown = await bench.scratch.run(['mount', 'list', 'mine', '--data', bench.scratch.data])
    const told = [JSON.stringify(await listed()), shown.out, shown.err, host.err()].join('\n')
    expect(told).toContain('••••')
    expect(told).not.toContain(secret)
  },
)

/** An MCP server that says what it was given wherever it can. */
const TELLTALE = `
  const secret = process.env.GIVEN
  const answers = {
    initialize: ({ protocolVersion }) => ({ result: { protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo: { name: 'n ' + secret, version: secret } } }),
    'tools/list': () => ({ result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } }),
    'tools/call': () => ({ error: { code: -32000, message: 'bad ' + secret } }),
  }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const answer = answers[method] ?? (() => ({ error: { code: -32601, message: 'no ' + method + ' with ' + secret } }))
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer(params) }))
  })`

test(
  'what a server repeats of what it was given is in its answers alone, in no state and no log of calls',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const secret = `s3cr3t-${randomBytes(8).toString('hex')}`
    await bench.host('one')
    const id = await bench.agent('mine', {
      srv: stdio({ ...ON_HOST, env: [{ name: 'GIVEN', value: secret }], args: ['-e', TELLTALE] }),
    })
    const client = await bench.as(id)
    await expect.poll(() => toolsOf(client, 'srv'), { timeout: 60_000 }).toEqual(['srv_tell'])
    await client.request('prompts/list', {}).catch(() => undefined)
    expect(await client.callTool('srv_tell', {}).then(() => '', messageOf)).toContain(`bad ${secret}`)
    const state = JSON.stringify(await client.readResource('compositor://srv/state'))
    expect(state).toContain('n ••••')
    const log = async () =>
      (await bench.gateway.call('agent.read_log', { agent_id: id, log: 'calls' })).lines.map(({ line }) => line).join('')
    await expect.poll(log, { timeout: 60_000 }).toContain('bad ••••')
    const mounts = JSON.stringify((await bench.gateway.call('mount.list', { agent_id: id })).items)
    expect([state, await log(), mounts].filter((text) => text.includes(secret))).toEqual([])
  },
)

test('a mount that ended tells how, what its server said last, and what its box does not show', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  await bench.host('one')
  const modules = join(bench.scratch.folder, 'app', 'node_modules')
  const program = join(modules, '.bin', 'serve')
  mkdirSync(dirname(program), { recursive: true })
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  const sh = (line: string) => stdio({ command: '/bin/sh', args: ['-c', line] })
  const id = await bench.agent('mine', {
    unseen: stdio({ command: program, args: [] }),
    nowhere: stdio({ command: 'no-such-server', args: [] }),
    script: sh('echo "cannot open /some/dir" >&2; exit 3'),
    killed: sh('kill -9 $$'),
  })
  await (await bench.as(id)).request('tools/list', {})
  const errors = async () =>
    Object.fromEntries(
      (await bench.gateway.call('mount.list', { agent_id: id })).items.map(({ name, state }) => [name, state?.error ?? null]),
    )
  const ended = 'the connection is closed: the server ended with exit code'
  await expect.poll(errors, { timeout: 60_000 }).toEqual({
    unseen: expect.stringContaining(`the box does not show ${program}; [sandbox] read = [${JSON.stringify(modules)}]`),
    nowhere: expect.stringMatching(/cannot run no-such-server: it is not on PATH .*\[sandbox\] read \(PARLEY_SANDBOX_READ\)/),
    script: `${ended} 3; it said last: cannot open /some/dir`,
    killed: `${ended} 137, as after SIGKILL`,
  })
  const { out } = await bench.scratch.run(['mount', 'list', 'mine', '--data', bench.scratch.data])
  expect(out).toContain('PARLEY_SANDBOX_READ')
  expect(out).toContain('cannot open /some/dir')
})

test('two agents have nothing in common, and each sees its own alone', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  await bench.host('one')
  const first = await bench.as(await bench.agent('first', { here: stdio(ON_HOST) }))
  const second = await bench.as(await bench.agent('second', { there: stdio(ON_HOST) }))
  await expect.poll(() => toolsOf(first, 'here'), { timeout: 60_000 }).not.toEqual([])
  await expect.poll(() => toolsOf(second, 'there'), { timeout: 60_000 }).not.toEqual([])
  expect([await toolsOf(first, 'there'), await toolsOf(second, 'here')]).toEqual([[], []])
  await expect(second.callTool('here_pid', {})).rejects.toThrow('here_pid')
})

test('a deleted agent’s token is refused, and its programs end', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  await bench.host('one')
  const id = await bench.agent('mine', { srv: stdio(ON_HOST) })
  const token = await bench.token(id)
  const client = await bench.connect(token)
  await expect.poll(() => toolsOf(client, 'srv'), { timeout: 60_000 }).not.toEqual([])
  const statusOf = async (): Promise<number> =>
    (await fetch(bench.gateway.mcp, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })).status
  await bench.gateway.call('agent.delete', { agent_id: id })
  await expect.poll(statusOf).toBe(401)
  await expect.poll(async () => (await bench.gateway.call('host.list', {})).items[0]?.load.running, { timeout: 30_000 }).toBe(0)
})

test('while no host can take an agent its clients are told to come again', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open({ limits: { wakeMs: 50 } })
  const token = await bench.token(await bench.agent('mine'))
  const reply = await fetch(bench.gateway.mcp, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })
  expect({ status: reply.status, retry: reply.headers.get('retry-after') }).toEqual({
    status: 503,
    retry: expect.stringMatching(/^\d+$/),
  })
  expect(await reply.text()).toContain('no host has taken this agent')
})

const GRANTS = {
  none: {},
  all: EVERYTHING,
  executors: { executors: ['box'] },
  folders: { folders: ['/srv'] },
  http: { private_http: true },
}
const WANTED = {
  boxed: stdio(),
  network: stdio({ network: true }),
  host: stdio(ON_HOST),
  executor: stdio({ place: { kind: 'executor', executor: 'box' } }),
  folder: stdio({ folder: '/srv/x' }),
  url: { kind: 'http', url: 'http://127.0.0.1:9/mcp' },
} as const
const MAY: Readonly<Record<keyof typeof GRANTS, readonly (keyof typeof WANTED)[]>> = {
  none: ['boxed'],
  all: ['boxed', 'network', 'host', 'executor', 'folder', 'url'],
  executors: ['boxed', 'executor'],
  folders: ['boxed', 'folder'],
  http: ['boxed', 'network', 'url'],
}

test('who may attach what is what they were granted, whoever they are; and only admins grant', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  for (const [role, admin] of [
    ['user', false],
    ['admin', true],
  ] as const) {
    for (const [grant, given] of Object.entries(GRANTS)) {
      const username = `${role}-${grant}`
      await bench.gateway.call('user.add', { username, admin })
      if (grant !== 'none') await bench.gateway.call('grant.set', { username, ...given })
      const theirs = await bench.user(username)
      const { agent_id } = await theirs('agent.create', { name: 'mine' })
      const taken: string[] = []
      for (const [name, server] of Object.entries(WANTED)) {
        const code = await theirs('mount.attach', { agent_id, name, server }).then(() => 'taken', codeOf)
        expect(['taken', 'forbidden']).toContain(code)
        if (code === 'taken') taken.push(name)
      }
      expect({ username, taken }).toEqual({ username, taken: MAY[grant as keyof typeof MAY] })
      const grants = await theirs('grant.set', { username, unboxed: true }).then(() => 'granted', codeOf)
      expect({ username, grants: grants === 'granted' }).toEqual({ username, grants: admin })
    }
  }
})

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : messageOf(error))
