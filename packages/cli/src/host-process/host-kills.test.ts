import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import { ownLoopback } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { AgentBench, ON_HOST, said, SDK_SERVER, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { gone } from '../fixture/gone.ts'
import { childrenOf, MANY_PROCESSES, Scratch } from '../fixture/parley.ts'
import { commandsHere } from '../fixture/run-here.ts'

const SLOW = { timeout: 60_000 }

/** Processes with this word among their arguments. */
const marked = (mark: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** Waits until a mount is there, or is not any more. */
const shows = async (client: Client, mount: string, isThere = true): Promise<void> => {
  const look = async (): Promise<boolean> => (await toolsOf(client, mount).catch(() => [])).length > 0
  await expect.poll(look, SLOW).toBe(isThere)
}
const hostOf = async (bench: AgentBench, agent_id: Parameters<AgentBench['as']>[0]) =>
  (await bench.gateway.call('agent.get', { agent_id })).host

test('kill -9 of a host leaves no program of its agents, and another host goes on with them', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  const mark = `mark-${process.pid}-host`
  const first = await bench.host('first')
  const id = await bench.agent('mine', {
    here: stdio({ ...ON_HOST, args: [SDK_SERVER, mark] }),
    boxed: stdio({ args: [SDK_SERVER, mark] }),
  })
  const client = await bench.as(id)
  for (const mount of ['here', 'boxed']) await shows(client, mount)
  expect(marked(mark).length).toBeGreaterThan(1)
  expect(await hostOf(bench, id)).toBe('first')
  process.kill(first.pid, 'SIGKILL')
  for (const pid of marked(mark)) await gone(pid)
  expect(marked(mark)).toEqual([])
  await bench.host('second')
  await expect.poll(() => hostOf(bench, id), SLOW).toBe('second')
  for (const mount of ['here', 'boxed']) await shows(client, mount)
  await expect.poll(() => said(client, 'here_pid').catch(() => ''), SLOW).not.toBe('')
})

test('a host that drains or ends gives its agents to another, and a detached mount ends', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  const mark = `mark-${process.pid}-drain`
  const at = ['--data', bench.scratch.data]
  const { run, json } = commandsHere(bench.scratch)
  const first = await bench.host('first', '--slots', '3', '--label', 'gpu=no')
  const id = await bench.agent('mine', { here: stdio({ ...ON_HOST, args: [SDK_SERVER, mark] }) })
  const client = await bench.as(id)
  await shows(client, 'here')
  const second = await bench.host('second')
  expect(await run(['host', 'drain', 'first', ...at])).toMatchObject({
    code: 0,
    out: 'first gives its agents back and takes no new ones.\n',
  })
  await expect.poll(() => hostOf(bench, id), SLOW).toBe('second')
  expect((await run(['host', 'list', ...at])).out).toMatch(/^first +draining +\d\/3 .*gpu=no/m)
  expect(await json(['host', 'drain', 'first', '--undo', ...at])).toEqual({ name: 'first', drain: false })
  second.kill('SIGTERM')
  expect(await second.exited).toEqual({ code: 0, signal: null })
  await expect.poll(() => hostOf(bench, id), SLOW).toBe('first')
  await shows(client, 'here')
  expect(await json(['mount', 'detach', 'mine', 'here', ...at])).toMatchObject({ detached: true })
  await expect.poll(() => marked(mark), SLOW).toEqual([])
  await shows(client, 'here', false)
  first.kill('SIGTERM')
  expect(await first.exited).toEqual({ code: 0, signal: null })
})

test(
  'a program on an executor is started where its owner was granted it, and ends when that is taken back',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const mark = `mark-${process.pid}-executor`
    const { token } = await bench.gateway.call('token.create', { role: 'executor', name: 'box' })
    writeFileSync(join(bench.scratch.folder, 'token'), token, { mode: 0o600 })
    const executor = await bench.scratch.start(['exec-server', '--join', bench.gateway.url, '--token-file', 'token', '--json'])
    const host = await bench.host('one')
    const place = { kind: 'executor', executor: 'box' } as const
    const id = await bench.agent('mine', {
      far: stdio({ place, env: [{ name: 'GIVEN', value: 'yes' }], args: [SDK_SERVER, mark] }),
    })
    const client = await bench.as(id)
    await shows(client, 'far')
    expect(JSON.parse(await said(client, 'far_env'))).toMatchObject({ GIVEN: 'yes', HOME: bench.scratch.folder })
    const [spawner = 0] = childrenOf(executor.pid)
    expect(marked(mark).some((pid) => childrenOf(spawner).includes(pid))).toBe(true)
    const { items } = await bench.gateway.call('audit.search', { action: 'tunnel.open' })
    expect(items).toMatchObject([{ actor: 'one', role: 'host', target: `box for ${id}`, outcome: 'ok' }])
    await bench.gateway.call('grant.set', { username: 'admin', executors: [] })
    await expect.poll(() => marked(mark), SLOW).toEqual([])
    expect(host.err()).not.toContain(token)
  },
)

test('a folder is given to a program below a root of its host alone, wherever links lead', MANY_PROCESSES, async () => {
  await using bench = await AgentBench.open()
  const at = (name: string): string => join(bench.scratch.folder, name)
  for (const name of ['root/inner', 'outside']) mkdirSync(at(name), { recursive: true })
  symlinkSync(at('outside'), at('root/link'))
  await bench.host('one', '--root', at('root'))
  const id = await bench.agent('mine', {
    inner: stdio({ ...ON_HOST, folder: at('root/inner') }),
    boxed: stdio({ folder: at('root/inner') }),
    link: stdio({ ...ON_HOST, folder: at('root/link') }),
    outside: stdio({ folder: at('outside') }),
  })
  const client = await bench.as(id)
  for (const mount of ['inner', 'boxed']) await shows(client, mount)
  const errors = async () => {
    const { items } = await bench.gateway.call('mount.list', { agent_id: id })
    return items.filter(({ name }) => ['link', 'outside'].includes(name)).map(({ state }) => state?.error)
  }
  await expect
    .poll(errors, SLOW)
    .toEqual([expect.stringContaining('not below a --root'), expect.stringContaining('not below a --root')])
})

test('kill -9 of the gateway: agents stay awake in their host, and clients go on', MANY_PROCESSES, async () => {
  await using scratch = new Scratch()
  scratch.settings('[gate]\ndefault = "allow"\n')
  const start = ['up', '--no-judge', '--host', ownLoopback(), '--port', '0', '--data', scratch.data, '--json']
  const up = await scratch.start(start)
  await expect.poll(() => up.err(), SLOW).toMatch(/The host \S+ is ready: 256 agents at once/)
  const { json } = commandsHere(scratch)
  const at = ['--data', scratch.data]
  const { agent_id } = await json(['agent', 'create', 'mine', ...at])
  await json(['grant', 'set', 'admin', '--unboxed', 'on', ...at])
  // Everything after -- is the command's, so --json goes before it.
  const attach = ['mount', 'attach', 'mine', 'here', '--place', 'host', ...at, '--json', '--', process.execPath, SDK_SERVER]
  expect((await commandsHere(scratch).run(attach)).code).toBe(0)
  const { token } = await json(['agent', 'token', 'mine', ...at])
  const client = await connectClient(httpTransport({ url: up.ready.mcp, token }), { clientInfo: { name: 'test', version: '1' } })
  await shows(client, 'here')
  const host = (await json(['agent', 'show', agent_id, ...at])).host
  const gateway = childrenOf(up.pid).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('gateway-main')) ?? 0
  process.kill(gateway, 'SIGKILL')
  await gone(gateway)
  await expect.poll(() => said(client, 'here_pid').catch(() => ''), SLOW).not.toBe('')
  expect((await json(['agent', 'show', agent_id, ...at])).host).toBe(host)
  // What was called before the kill and after it hangs together.
  expect(await json(['audit', 'verify', ...at])).toMatchObject({ agents: 1, not_chained: 0, faults: [], complete: true })
  await client.close()
  up.kill('SIGTERM')
  expect(await up.exited).toEqual({ code: 0, signal: null })
})
