import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COUNTING_SERVER } from '@parley/contracts/testing'
import { dialTunnel, openExecutor } from '@parley/executor'
import { messageOf } from '@parley/protocol'
import { connectClient, httpTransport } from '@parley/rpc'
import { expect, onTestFinished, test } from 'vitest'
import { gone } from '../../fixture/gone.ts'
import { LocalGateway } from '../../fixture/local-gateway.ts'
import { childrenOf, MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

/** A gateway of this process and an executor that takes part in it. */
async function installation(more: readonly string[] = []) {
  const scratch = new Scratch()
  onTestFinished(() => scratch[Symbol.asyncDispose]())
  const gateway = await LocalGateway.open(scratch.data)
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const { token } = await gateway.call('token.create', { role: 'executor', name: 'box' })
  writeFileSync(join(scratch.folder, 'token'), token, { mode: 0o600 })
  const args = ['exec-server', '--join', gateway.url, '--token-file', 'token', '--json', ...more]
  return { scratch, gateway, args, start: () => scratch.start(args) }
}

const sh = (script: string) => ({
  processId: 'p',
  argv: ['/bin/sh', '-c', script] as const,
  env: {},
  cwd: '/',
  tty: false,
  pipeStdin: true,
})

test('a machine takes part, runs a server for who asks by its name, and all is gone with it', MANY_PROCESSES, async () => {
  const { scratch, gateway, start } = await installation(['--label', 'gpu=no', '--slots', '3'])
  const executor = await start()
  expect(executor.ready).toEqual({ name: 'box', url: gateway.url })
  const listed = await scratch.json(['executor', 'list', '--data', scratch.data])
  expect(listed.items).toMatchObject([{ name: 'box', state: 'idle', labels: [{ key: 'gpu', value: 'no' }], slots: 3 }])
  const proxy = await scratch.start([
    ...['proxy', '--port', '0', '--json', '--executor', 'box', '--data', scratch.data],
    ...['--', process.execPath, COUNTING_SERVER],
  ])
  const client = await connectClient(httpTransport({ url: proxy.ready.mcp, token: proxy.ready.token }), {
    clientInfo: { name: 'test', version: '1' },
  })
  const { tools } = await client.request('tools/list', {})
  expect(tools).not.toHaveLength(0)
  await expect.poll(async () => (await gateway.call('executor.list', {})).items[0]?.load.running, { timeout: 30_000 }).toBe(1)
  const [spawner] = childrenOf(executor.pid)
  await client.close()
  proxy.kill('SIGTERM')
  expect((await proxy.exited).code).toBe(0)
  executor.kill('SIGTERM')
  expect((await executor.exited).code).toBe(0)
  if (spawner !== undefined) await gone(spawner)
  await expect.poll(async () => (await gateway.call('executor.list', {})).items).toEqual([])
})

test('a stream through a gateway that is killed and comes back loses nothing and repeats nothing', MANY_PROCESSES, async () => {
  const { gateway, start } = await installation()
  const server = await start()
  const { token } = await gateway.call('token.create', { role: 'user', username: 'admin' })
  await using executor = await openExecutor({
    dial: () => dialTunnel(gateway.url, { executor: 'box', token }),
    clientName: 'test',
  })
  const lines = 20_000
  const process = await executor.start({
    ...sh(`i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo $i; [ $((i % 1000)) = 0 ] && sleep 0.05; done`),
    onFull: 'hold',
  })
  const output: Buffer[] = []
  let size = 0
  process.subscribe((event) => {
    if (!('seq' in event) || event.kind !== 'output') return
    output.push(event.bytes)
    size += event.bytes.length
  })
  for (const past of [1_000, 40_000]) {
    await expect.poll(() => size, { timeout: 60_000 }).toBeGreaterThan(past)
    await gateway.stop()
    await gateway.start()
  }
  await process.ended
  expect(Buffer.concat(output).toString()).toBe(Array.from({ length: lines }, (_, at) => `${at + 1}\n`).join(''))
  expect(server.err()).toContain('lost the gateway')
})

test('one that drains takes no new sessions, and goes on with those it has', MANY_PROCESSES, async () => {
  const { scratch, gateway, start } = await installation()
  await start()
  const { token } = await gateway.call('token.create', { role: 'user', username: 'admin' })
  const open = () =>
    openExecutor({ dial: () => dialTunnel(gateway.url, { executor: 'box', token }), clientName: 'test', recoveryMs: 0 })
  await using executor = await open()
  const drained = await scratch.run(['executor', 'drain', 'box', '--data', scratch.data])
  expect(drained).toMatchObject({ code: 0, out: expect.stringContaining('takes no new sessions') })
  await expect
    .poll(() =>
      open()
        .then(() => 'taken')
        .catch(messageOf),
    )
    .toContain('being drained')
  const process = await executor.start(sh('echo still here'))
  await process.ended
  await scratch.run(['executor', 'drain', 'box', '--undo', '--data', scratch.data])
  await expect
    .poll(() =>
      open()
        .then((again) => again.close())
        .then(() => 'taken')
        .catch(messageOf),
    )
    .toBe('taken')
})

test('kill -9 of an executor leaves nothing, and the next one of its name takes its place', MANY_PROCESSES, async () => {
  const { scratch, gateway, args, start } = await installation()
  const first = await start()
  const second = await scratch.run(args)
  expect(second).toEqual({ code: 1, out: '', err: expect.stringContaining('another executor called box is here') })
  const { token } = await gateway.call('token.create', { role: 'user', username: 'admin' })
  const executor = await openExecutor({
    dial: () => dialTunnel(gateway.url, { executor: 'box', token }),
    clientName: 'test',
    recoveryMs: 5_000,
  })
  const process = await executor.start(sh('trap "" TERM HUP; echo $$; sleep 1000'))
  await expect.poll(async () => (await process.read({})).chunks.length).toBe(1)
  const pid = Number((await process.read({})).chunks[0]?.bytes.toString())
  first.kill('SIGKILL')
  await gone(pid)
  await expect.poll(async () => (await gateway.call('executor.list', {})).items).toEqual([])
  const third = await start()
  expect(third.ready.name).toBe('box')
  // Its session is unknown to the next one, and it says so instead of starting anew.
  await process.ended
  await expect(process.read({})).rejects.toMatchObject({ code: 'executor_lost' })
})

test(
  'a proxy opens a new session on an executor that was lost and came again; a call under way then is not sent twice',
  MANY_PROCESSES,
  async () => {
    const { scratch, start } = await installation()
    const first = await start()
    const proxy = await scratch.start([
      ...['proxy', '--port', '0', '--json', '--executor', 'box', '--data', scratch.data],
      ...['--', process.execPath, COUNTING_SERVER],
    ])
    const client = await connectClient(httpTransport({ url: proxy.ready.mcp, token: proxy.ready.token }), {
      clientInfo: { name: 'test', version: '1' },
    })
    expect((await client.request('tools/list', {})).tools).not.toHaveLength(0)
    first.kill('SIGKILL')
    await first.exited
    await expect.poll(proxy.err).toContain('the executor is away')
    const underWay = client.request('tools/list', {})
    underWay.catch(() => undefined)
    await start()
    await expect(underWay).rejects.toThrow('may or may not have run')
    expect((await client.request('tools/list', {})).tools).not.toHaveLength(0)
    // Once that it went, once that it will not come back as it was: not for each try.
    expect(proxy.err().match(/the executor is (?:away|back|given up)/g)).toEqual([
      'the executor is away',
      'the executor is given up',
    ])
    await client.close()
  },
)

test('what keeps a proxy from its executor is said with what helps', MANY_PROCESSES, async () => {
  const { scratch, gateway, start } = await installation()
  await start()
  const { run } = commandsHere(scratch)
  const proxy = async (...args: readonly string[]) => {
    const { code, out, err } = await run(['proxy', '--port', '0', '--executor', ...args])
    expect({ args, code, out }).toEqual({ args, code: 1, out: '' })
    return err
  }
  const data = ['--data', scratch.data]
  const byToken = ['--gateway', gateway.url, '--executor-token-file', 'token']
  expect(await proxy('box', ...data, '--', 'no-such-server')).toBe(
    'parley: the executor says: cannot run no-such-server: it is not on PATH (ENOENT) (check the command after --)\n',
  )
  expect(await proxy('bax', ...data, '--', 'cat')).toBe(
    'parley: there is no executor called bax; parley executor list shows those that are\n',
  )
  expect(await proxy('box', '--data', 'nowhere', '--', 'cat')).toBe(
    `parley: no gateway runs on ${join(scratch.folder, 'nowhere')} (start one with parley up, or name another by --data or --gateway)\n`,
  )
  expect(await proxy('box', ...byToken, '--', 'cat')).toBe(
    'parley: only an admin may reach an executor (check --executor-token-file or PARLEY_TOKEN)\n',
  )
  expect(await proxy('box', '--gateway', 'http://127.0.0.1:1', '--executor-token-file', 'token', '--', 'cat')).toContain(
    '(check --gateway and that the gateway runs)',
  )
  expect(await proxy('ws://127.0.0.1:1', '--', 'cat')).toContain('(check --executor and that the exec-server runs)')
  await run(['executor', 'drain', 'box', ...data])
  await expect
    .poll(() => proxy('box', ...data, '--', 'no-such-server'))
    .toBe(
      'parley: this executor is being drained: it takes no new sessions (parley executor drain NAME --undo lets it take sessions again)\n',
    )
})

test('what is wrong with a line is said', async () => {
  const scratch = new Scratch()
  onTestFinished(() => scratch[Symbol.asyncDispose]())
  const { run } = commandsHere(scratch)
  writeFileSync(join(scratch.folder, 'token'), 'exe_x', { mode: 0o600 })
  for (const [args, words] of [
    [['--join', 'http://127.0.0.1:1'], '--join needs a token'],
    [['--join', 'ftp://x', '--token-file', 'token'], '--join must be http://HOST:PORT'],
    [['--join', 'http://127.0.0.1:1/path', '--token-file', 'token'], '--join must be http://HOST:PORT'],
    [['--join', 'http://127.0.0.1:1', '--token-file', 'token', '--listen', 'stdio'], '--listen does not go with --join'],
    [['--join', 'http://127.0.0.1:1', '--token-file', 'token', '--name', 'a b'], '--name must have 1 to 63'],
    [['--join', 'http://127.0.0.1:1', '--token-file', 'token', '--label', 'x'], '--label must be KEY=VALUE'],
    [['--join', 'http://127.0.0.1:1', '--token-file', 'token', '--label', 'A=x'], '--label A'],
    [['--join', 'http://127.0.0.1:1', '--token-file', 'token', '--slots', '0'], '--slots'],
    [['--name', 'x'], '--name goes with --join'],
    [['--label', 'x=y'], '--label goes with --join'],
  ] as const)
    expect(await run(['exec-server', ...args])).toMatchObject({ out: '', err: expect.stringContaining(words) })
  for (const [args, words] of [
    [['--executor', 'a b'], 'the name of an executor'],
    [['--executor', 'ws://127.0.0.1:1', '--gateway', 'http://127.0.0.1:1'], '--gateway is for an executor by its name'],
    [['--gateway', 'http://127.0.0.1:1'], '--gateway goes with --executor'],
    [['--executor', 'box', '--gateway', 'http://127.0.0.1:1'], 'a token is needed for http://127.0.0.1:1'],
    [['--executor', 'box', '--gateway', 'ftp://x'], '--gateway must be http://HOST:PORT'],
  ] as const)
    expect(await run(['proxy', '--port', '0', ...args, '--', 'true'])).toMatchObject({
      out: '',
      err: expect.stringContaining(words),
    })
})
