import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { messageOf } from '@parley/protocol'
import { type FrameLink, dialFrames } from '@parley/rpc/frame'
import { afterEach, expect, test } from 'vitest'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]()
})

async function gatewayHere(): Promise<TestGateway> {
  const gw = await openTestGateway()
  opened.push(gw)
  return gw
}

const heartbeatOf = (more: object = {}) => ({
  instance: randomBytes(16).toString('hex'),
  slots: 2,
  facts: { version: '1', os: 'linux', arch: 'x64', cores: 1 },
  load: { sessions: 0, running: 0, processes: [] },
  ...more,
})

/** An executor as the wire has it: a socket with a heartbeat, and what it is told. */
async function workerAt(gw: TestGateway, name: string, beat = heartbeatOf()) {
  const { token } = await mint(gw, { role: 'executor', name })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  opened.push({
    [Symbol.asyncDispose]: async () => {
      socket.socket.close()
      await socket.closed
    },
  })
  const call = (args: object) => socket.call('tools/call', { name: 'worker.heartbeat', arguments: args })
  const answer = await call(beat)
  const told = (method: string) =>
    socket.messages.filter((message) => message.method === method).map(({ params }) => params as Record<string, unknown>)
  return { token, socket, call, answer, told, beat }
}

const tunnelOf = (gw: TestGateway, query = ''): string => `${gw.gateway.url.replace('http', 'ws')}/api/tunnel${query}`
const ask = (gw: TestGateway, name: string, token = gw.adminToken): Promise<FrameLink> =>
  dialFrames({ url: tunnelOf(gw, `?executor=${name}`), token })
const bring = (gw: TestGateway, token: string, ticket: string): Promise<FrameLink> =>
  dialFrames({ url: tunnelOf(gw), token, headers: { 'parley-ticket': ticket } })

async function ticketFor(worker: Awaited<ReturnType<typeof workerAt>>, count = 1): Promise<string> {
  await expect.poll(() => worker.told('open')).toHaveLength(count)
  return String(worker.told('open').at(-1)?.['ticket'])
}

function texts(link: FrameLink): { readonly heard: string[]; readonly ended: Promise<string> } {
  const heard: string[] = []
  const over = Promise.withResolvers<string>()
  link.open({ text: (text) => void heard.push(text), fault: () => undefined, ended: over.resolve })
  return { heard, ended: over.promise }
}

test('an executor that says it is here is listed with what it has to do, and is gone when its connection ends', async () => {
  const gw = await gatewayHere()
  const since = new Date(0).toISOString()
  const load = { sessions: 1, running: 1, processes: [{ program: 'cat', since }], load_1m: 0.25 }
  const worker = await workerAt(gw, 'box', heartbeatOf({ labels: [{ key: 'gpu', value: 'yes' }], load }))
  expect(worker.answer.result?.structuredContent).toMatchObject({
    name: 'box',
    drain: false,
    gateways: [{ id: expect.any(String), url: gw.gateway.url }],
    heartbeat_ms: 10_000,
  })
  const listed = await gw.admin('executor.list')
  expect(listed.structuredContent).toMatchObject({
    items: [{ name: 'box', state: 'busy', labels: [{ key: 'gpu', value: 'yes' }], slots: 2, load }],
  })
  worker.socket.socket.terminate()
  await expect.poll(async () => (await gw.admin('executor.list')).structuredContent?.['items']).toEqual([])
  const gone = await gw.admin('executor.list', { gone: true })
  expect(gone.structuredContent).toMatchObject({ items: [{ name: 'box', state: 'gone' }] })
})

test('a second executor of the same name is refused while the first is here; one that comes after it takes its place', async () => {
  const gw = await gatewayHere()
  const first = await workerAt(gw, 'box')
  const second = await TestSocket.open(gw.gateway.ws, first.token)
  const again = heartbeatOf()
  const call = () => second.call('tools/call', { name: 'worker.heartbeat', arguments: again })
  expect((await call()).result?._meta).toMatchObject({ 'parley/error': { code: 'conflict', field: 'name' } })
  first.socket.socket.terminate()
  await expect.poll(async () => (await call()).result?.isError).toBeUndefined()
  second.socket.close()
  await second.closed
})

test('a connection speaks for one name', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  const other = await worker.call(heartbeatOf({ name: 'other' }))
  expect(other.result?.['_meta']).toMatchObject({ 'parley/error': { code: 'conflict', field: 'name' } })
  expect((await gw.admin('executor.list', { gone: true })).structuredContent).toMatchObject({ items: [{ name: 'box' }] })
})

test('an executor that is told to drain hears of it, and again in every answer', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  expect((await gw.admin('executor.drain', { name: 'box' })).structuredContent).toEqual({ name: 'box', drain: true })
  await expect.poll(() => worker.told('worker_control')).toEqual([{ name: 'box', drain: true }])
  expect((await worker.call(worker.beat)).result?.structuredContent).toMatchObject({ drain: true })
  expect((await gw.admin('executor.list')).structuredContent).toMatchObject({ items: [{ state: 'draining' }] })
  await gw.admin('executor.drain', { name: 'box', drain: false })
  await expect.poll(() => worker.told('worker_control').at(-1)).toEqual({ name: 'box', drain: false })
  expect((await gw.admin('executor.drain', { name: 'nobody' })).isError).toBe(true)
})

test('who asks and the executor that dials back with the ticket are joined, and it is written down who asked', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  const asking = ask(gw, 'box')
  const ticket = await ticketFor(worker)
  expect(worker.told('open')).toEqual([{ tunnel: expect.any(String), kind: 'executor', subject: 'box', ticket }])
  const there = await bring(gw, worker.token, ticket)
  const here = await asking
  const [mine, theirs] = [texts(here), texts(there)]
  here.send('to the executor')
  there.send('to who asked')
  await expect.poll(() => [mine.heard, theirs.heard]).toEqual([['to who asked'], ['to the executor']])
  here.close()
  await theirs.ended
  const lines = await gw.admin('audit.search', { action: 'tunnel.open' })
  expect(lines.structuredContent).toMatchObject({ items: [{ actor: 'admin', target: 'box', outcome: 'ok' }] })
  expect(gw.logged.join('')).not.toContain(ticket)
})

test('a ticket is good once, for its executor alone', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  const other = await workerAt(gw, 'other')
  const asking = ask(gw, 'box')
  const ticket = await ticketFor(worker)
  for (const token of [other.token, gw.adminToken]) await expect(bring(gw, token, ticket)).rejects.toMatchObject({ status: 404 })
  texts(await bring(gw, worker.token, ticket))
  texts(await asking)
  await expect(bring(gw, worker.token, ticket)).rejects.toMatchObject({ status: 404 })
  await expect(bring(gw, worker.token, 'made-up')).rejects.toMatchObject({ status: 404 })
})

test('only an admin may ask; an executor that is not there is said to be not there', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  await gw.admin('user.add', { username: 'eve' })
  const eve = await mint(gw, { role: 'user', username: 'eve' })
  const narrow = await mint(gw, { role: 'user', username: 'admin', scopes: ['agents', 'read'] })
  await expect(ask(gw, 'box', narrow.token)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('an executor needs the scope admin; this token has agents, read'),
  })
  for (const token of [eve.token, worker.token])
    await expect(ask(gw, 'box', token)).rejects.toMatchObject({ code: 'unauthorized', status: 403 })
  await expect(ask(gw, 'nobody')).rejects.toMatchObject({ status: 404, message: expect.stringContaining('no executor called') })
  await expect(ask(gw, '..%2F..')).rejects.toMatchObject({ status: 400 })
  await expect(dialFrames({ url: tunnelOf(gw), token: gw.adminToken })).rejects.toMatchObject({ status: 400 })
  worker.socket.socket.terminate()
  await expect.poll(() => ask(gw, 'box').catch(messageOf)).toContain('box is not here now')
  expect(worker.told('open')).toEqual([])
  const lines = await gw.admin('audit.search', { action: 'tunnel.open' })
  expect(lines.structuredContent?.['items']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ actor: 'eve', outcome: 'denied' }),
      expect.objectContaining({ actor: 'admin', outcome: 'failed', target: 'nobody' }),
    ]),
  )
})

test('when the executor’s token is revoked its tunnels end, and so do those of an admin who is no admin any more', async () => {
  const gw = await gatewayHere()
  await gw.admin('user.add', { username: 'ada', admin: true })
  const ada = await mint(gw, { role: 'user', username: 'ada' })
  const worker = await workerAt(gw, 'box')
  const open = async (count: number, token?: string) => {
    const asking = ask(gw, 'box', token)
    const there = texts(await bring(gw, worker.token, await ticketFor(worker, count)))
    return { here: texts(await asking), there }
  }
  const hers = await open(1, ada.token)
  await gw.admin('user.demote', { username: 'ada' })
  await Promise.all([hers.here.ended, hers.there.ended])
  const mine = await open(2)
  const { items } = (await gw.admin('token.list')).structuredContent as { items: { id: string; role: string }[] }
  await gw.admin('token.revoke', { id: items.find(({ role }) => role === 'executor')?.id })
  await Promise.all([mine.here.ended, mine.there.ended])
  expect((await gw.admin('executor.list', { gone: true })).structuredContent).toEqual({ items: [] })
})

test('who goes away while the executor is asked leaves nothing behind: no place, no ticket', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  // More than may wait at once.
  for (let count = 1; count <= 20; count += 1) {
    const socket = connect(Number(new URL(gw.gateway.url).port), '127.0.0.1')
    const lines = ['GET /api/tunnel?executor=box HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${gw.adminToken}`]
    const more = [
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${'A'.repeat(22)}==`,
    ]
    socket.write(`${[...lines, ...more].join('\r\n')}\r\n\r\n`)
    const ticket = await ticketFor(worker, count)
    socket.end()
    await once(socket, 'close')
    await expect.poll(() => bring(gw, worker.token, ticket).catch(messageOf)).toContain('no tunnel waits')
  }
})

test('who waits for an executor that leaves is told at once', async () => {
  const gw = await gatewayHere()
  const worker = await workerAt(gw, 'box')
  const asking = ask(gw, 'box').catch(messageOf)
  await ticketFor(worker)
  worker.socket.socket.terminate()
  expect(await asking).toContain('box has just left')
})

test('a host has a heartbeat too, a judge, a person and an agent may not, and garbage is named', async () => {
  const gw = await gatewayHere()
  const { token } = await mint(gw, { role: 'host', name: 'h1' })
  expect(token).toMatch(/^hst_/)
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const beat = (args: object) => socket.call('tools/call', { name: 'worker.heartbeat', arguments: args })
  expect((await beat(heartbeatOf())).result?.structuredContent).toMatchObject({ name: 'h1' })
  expect((await gw.admin('executor.list', { gone: true })).structuredContent).toEqual({ items: [] })
  for (const [field, more] of [
    ['name', { name: 'ws://x' }],
    ['instance', { instance: 'x' }],
    ['slots', { slots: 0 }],
    ['labels.0.key', { labels: [{ key: 'A B', value: '' }] }],
    ['labels', { labels: [1, 2].map(() => ({ key: 'a', value: '' })) }],
    ['load.running', { load: { sessions: 0, running: -1, processes: [] } }],
  ] as const)
    expect((await beat(heartbeatOf(more))).result?._meta).toMatchObject({ 'parley/error': { field } })
  socket.socket.close()
  await socket.closed
  const judge = await mint(gw, { role: 'judge', name: 'j1' })
  for (const other of [gw.adminToken, judge.token])
    await expect(callTool(gw.gateway.url, other, 'worker.heartbeat', heartbeatOf())).rejects.toThrow('unknown tool')
})
