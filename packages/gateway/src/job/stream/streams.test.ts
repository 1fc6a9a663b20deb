import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { NOTIFICATIONS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { JobSocket, type Told, until } from '../../fixture/job-socket.ts'
import { PlayedJudge, addJob, addUser, statusLine } from '../../fixture/test-job.ts'
import { type TestGateway, callTool, openTestGateway } from '../../fixture/test-gateway.ts'
import { TestSession } from '../../fixture/wires.ts'
import type { GatewayOptions } from '../../options.ts'
import { STREAMS_PER_LINK } from './streams.ts'

const ALL = { streams: ['agent_status', 'terminal', 'cases', 'state'] }
const CASE_LINE = '{"name":"1","verdict":"AC"}\n'

async function open(more: Partial<GatewayOptions> = {}) {
  const gw = await openTestGateway(more)
  const ada = await addUser(gw, 'ada')
  const id = await addJob(gw.store, ada.id)
  return { gw, ada, id, follow: () => JobSocket.open(gw.gateway.ws, ada.token) }
}

const summary = ({ params }: Told) => (params['item'] as { summary: string }).summary

test('a plain client hears the answer first, then what was there, then what happens, each with the offset after it', async () => {
  const { gw, id, follow } = await open()
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('agent_status', statusLine(id, 1))
  await judge.append('terminal', 'g++ main.cpp\n')
  const socket = await follow()
  expect(await socket.subscribe(id, ALL)).toMatchObject({
    structuredContent: { job_id: id, streams: ['agent_status', 'terminal', 'cases', 'state'] },
  })
  await socket.heard(3)
  expect(socket.socket.messages.map((message) => message.method)).toEqual([
    undefined,
    ...socket.told().map(({ method }) => method),
  ])
  await judge.append('agent_status', statusLine(id, 2))
  await judge.append('cases', CASE_LINE)
  await judge.append('terminal', Buffer.from([0xff, 0x00, 0x41]))
  await judge.end()
  await until(() => socket.statuses().includes('succeeded'))
  for (const { method, params } of socket.told('agent_status', 'terminal', 'job_state'))
    expect(NOTIFICATIONS[method as 'terminal'].params.safeParse(params)).toMatchObject({ success: true })
  const first = Buffer.byteLength(statusLine(id, 1))
  expect(socket.told('agent_status').map(({ params }) => params)).toMatchObject([
    { job_id: id, offset: first, item: { summary: 'line 1' } },
    { job_id: id, offset: first * 2, item: { summary: 'line 2' } },
  ])
  expect(socket.told('terminal').map(({ params }) => params)).toEqual([
    { job_id: id, offset: 13, chunk_b64: Buffer.from('g++ main.cpp\n').toString('base64') },
    { job_id: id, offset: 16, chunk_b64: '/wBB' },
  ])
  expect(socket.told('case_result')).toMatchObject([{ params: { offset: CASE_LINE.length, item: { verdict: 'AC' } } }])
  expect(socket.statuses()[0]).toBe('running_test')
  socket.close()
})

test('lines go out when they are whole, however they were written, and what is no line of ours is passed over', async () => {
  const { gw, id, follow } = await open()
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  const socket = await follow()
  await socket.subscribe(id)
  const [one, two, three] = [1, 2, 3].map((n) => statusLine(id, n))
  await judge.append('agent_status', `${one}${two?.slice(0, 20)}`)
  await socket.heard(1)
  await judge.append('agent_status', `${two?.slice(20)}not JSON\n\n[1]\n"text"\n${three}`)
  const told = await socket.heard(3, 'agent_status')
  expect(told.map(summary)).toEqual(['line 1', 'line 2', 'line 3'])
  // From the middle of the second line: on after it.
  const middle = Buffer.byteLength(`${one}`) + 5
  await socket.subscribe(id, { agent_status_offset: middle })
  expect((await socket.heard(4, 'agent_status')).slice(3).map(summary)).toEqual(['line 3'])
  await socket.subscribe(id, { agent_status_offset: Buffer.byteLength(`${one}`) })
  expect((await socket.heard(6, 'agent_status')).slice(4).map(summary)).toEqual(['line 2', 'line 3'])
  socket.close()
})

test('the last line and the last byte come before the end, also for readers that are far behind', async () => {
  const { gw, id, follow } = await open({ limits: { wire: { streamBufferBytes: 64 * 1024 } } })
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  const [slow, fast] = [await follow(), await follow()]
  await slow.subscribe(id, ALL)
  await fast.subscribe(id, ALL)
  await slow.heard(1, 'job_state')
  slow.socket.socket.pause()
  // More than the kernel and the gateway hold for one socket.
  const chunk = 'x'.repeat(255 * 1024)
  for (let n = 0; n < 20; n += 1) await judge.append('terminal', `${n}:${chunk}\n`)
  for (let n = 0; n < 100; n += 1) await judge.append('agent_status', statusLine(id, n))
  await judge.end('failed')
  // The slow one holds up nobody but itself.
  await until(() => fast.statuses().includes('failed'))
  expect(slow.statuses()).toEqual(['running_test'])
  slow.socket.socket.resume()
  await until(() => slow.statuses().includes('failed'))
  for (const socket of [fast, slow]) {
    const told = socket.told()
    expect(told.at(-1)).toMatchObject({ method: 'job_state', params: { state: { status: 'failed' } } })
    expect(socket.told('agent_status').map(summary)).toEqual(Array.from({ length: 100 }, (_, n) => `line ${n}`))
    expect(socket.terminal()).toBe(Array.from({ length: 20 }, (_, n) => `${n}:${chunk}\n`).join(''))
    for (const { params } of socket.told('terminal'))
      expect(Buffer.from(String(params['chunk_b64']), 'base64').length).toBeLessThanOrEqual(64 * 1024)
    socket.close()
  }
})

test('a stream ends by itself with the job, by job.unsubscribe and with the socket, and nothing stays behind', async () => {
  const { gw, id, follow } = await open()
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  const socket = await follow()
  await socket.subscribe(id, ALL)
  await socket.heard(1, 'job_state')
  expect(await socket.tool('job.unsubscribe', { job_id: id, streams: ['terminal', 'cases'] })).toMatchObject({
    structuredContent: { job_id: id, streams: ['terminal', 'cases'] },
  })
  await judge.append('terminal', 'not told\n')
  await judge.append('agent_status', statusLine(id, 1))
  await socket.heard(1, 'agent_status')
  expect(await socket.tool('job.unsubscribe', { job_id: id })).toMatchObject({
    structuredContent: { streams: ['agent_status', 'state'] },
  })
  await judge.append('agent_status', statusLine(id, 2))
  await judge.end()
  const other = await follow()
  await other.subscribe(id, ALL)
  await until(() => other.statuses().includes('succeeded'))
  expect([socket.told('terminal'), socket.told('agent_status').length, socket.statuses()]).toEqual([[], 1, ['running_test']])
  await callTool(gw.gateway.url, gw.adminToken, 'job.delete', { job_id: id })
  // The store is the witness: the deleted job is followed no more, and a new one of the same socket is.
  const next = await addJob(gw.store, null)
  expect(await other.tool('job.unsubscribe', { job_id: id })).toMatchObject({ structuredContent: { streams: [] } })
  expect(await other.subscribe(next)).toMatchObject({ isError: true })
  socket.close()
  other.close()
})

test('an offset past the end names its field and the end; a connection has so many streams and no more', async () => {
  const { gw, ada, id, follow } = await open()
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('terminal', 'abc')
  const socket = await follow()
  for (const [stream, end] of [
    ['terminal', 3],
    ['agent_status', 0],
    ['cases', 0],
  ] as const)
    expect(await socket.subscribe(id, { streams: [stream], [`${stream}_offset`]: end + 1 })).toMatchObject({
      isError: true,
      _meta: {
        'parley/error': { code: 'invalid_argument', field: `${stream}_offset`, message: expect.stringContaining(`at ${end}`) },
      },
    })
  for (let count = 4; count <= STREAMS_PER_LINK; count += 4) await socket.subscribe(await addJob(gw.store, ada.id), ALL)
  expect(await socket.subscribe(id)).toMatchObject({ _meta: { 'parley/error': { code: 'quota_exceeded' } } })
  expect(await (await follow()).subscribe(id)).not.toHaveProperty('isError')
  socket.close()
})

test('a request that stands by itself has no connection to follow on, and is told the other ways', async () => {
  const { gw, ada, id } = await open()
  await using _gw = gw
  for (const name of ['job.subscribe', 'job.unsubscribe'])
    expect(await callTool(gw.gateway.url, ada.token, name, { job_id: id })).toMatchObject({
      isError: true,
      _meta: {
        'parley/error': {
          code: 'no_session',
          hint: expect.stringMatching(/subscriptions\/listen.*resource:\/\/jobs.*job\.read_log/),
        },
      },
    })
})

test('streams that were given up while nobody read send nothing later, and the last one is whole', async () => {
  const { gw, ada, id } = await open()
  await using _gw = gw
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('terminal', 'x'.repeat(300_000))
  await judge.append('agent_status', statusLine(id, 1))
  const session = await TestSession.open(gw.gateway.url, ada.token)
  const call = async (name: string, args: object, n: number) => {
    const params = { name, arguments: { job_id: id, ...args } }
    await (await session.send(ada.token, { jsonrpc: '2.0', id: n, method: 'tools/call', params })).text()
  }
  for (let n = 0; n < 300; n += 2) {
    await call('job.subscribe', ALL, n)
    if (n < 298) await call('job.unsubscribe', {}, n + 1)
  }
  const stream = await session.stream(ada.token)
  let text = ''
  for await (const piece of stream.body ?? []) {
    text += Buffer.from(piece).toString()
    if (text.includes('"offset":300000') && text.includes('"method":"job_state"') && text.includes('agent_status')) break
  }
  expect(text.match(/"method":"agent_status"/g)).toHaveLength(1)
  expect(text.match(/"method":"terminal"/g)).toHaveLength(Math.ceil(300_000 / (64 * 1024)))
})

test('the official client follows a job over a session of /mcp', async () => {
  const { gw, ada, id } = await open()
  await using _gw: TestGateway = gw
  const client = new Client({ name: 'test', version: '1' })
  const heard: Told[] = []
  client.fallbackNotificationHandler = (notification) => {
    heard.push(notification as unknown as Told)
    return Promise.resolve()
  }
  const headers = { authorization: `Bearer ${ada.token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(gw.gateway.mcp), { requestInit: { headers } }))
  const judge = await PlayedJudge.take(gw.store, id)
  await judge.append('agent_status', statusLine(id, 1))
  await client.callTool({ name: 'job.subscribe', arguments: { job_id: id, ...ALL } })
  await judge.append('agent_status', statusLine(id, 2))
  await judge.append('terminal', 'done\n')
  await judge.end()
  const isEnd = ({ method, params }: Told) =>
    method === 'job_state' && (params['state'] as { status: string }).status === 'succeeded'
  await until(() => heard.some(isEnd))
  expect(heard.filter(({ method }) => method === 'agent_status').map(summary)).toEqual(['line 1', 'line 2'])
  expect(heard.findIndex(isEnd)).toBe(heard.length - 1)
  await client.close()
})
