import { expect, test } from 'vitest'
import { readEvents } from '../fixture/event-reader.ts'
import { openSession, post, rpc, send } from '../fixture/http-caller.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

const subscribe = (uri: string) => rpc(`s${uri}`, 'resources/subscribe', { uri })

test('a subscriber hears of changes on its stream, once per change, and of nothing after it unsubscribed', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const stream = await readEvents(open.mcp, headers)
  await post(open.mcp, subscribe('test://a'), headers)
  await post(open.mcp, subscribe('test://a'), headers)
  probe.change('test://a')
  probe.change('test://b')
  probe.changeList('tools')
  await until(() => stream.events.filter(({ message }) => message !== undefined).length === 2)
  expect(stream.events.flatMap(({ message }) => message ?? [])).toEqual([
    { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://a' } },
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} },
  ])
  await post(open.mcp, rpc(3, 'resources/unsubscribe', { uri: 'test://a' }), headers)
  expect(probe.watchers()).toBe(1)
  stream.stop()
})

test('what changed while no stream was open is told when one opens', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  await post(open.mcp, subscribe('test://a'), headers)
  for (let times = 0; times < 100; times += 1) probe.change('test://a')
  const stream = await readEvents(open.mcp, headers)
  await until(() => stream.events.some(({ message }) => message !== undefined))
  expect(stream.events.flatMap(({ message }) => message ?? [])).toMatchObject([{ params: { uri: 'test://a' } }])
  stream.stop()
})

test('a stream that was cut goes on after the last event that was seen', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  for (const name of ['a', 'b', 'c']) await post(open.mcp, subscribe(`test://${name}`), headers)
  const first = await readEvents(open.mcp, headers)
  probe.change('test://a')
  probe.change('test://b')
  await until(() => first.events.length === 3)
  const seen = first.events.find(({ message }) => JSON.stringify(message ?? '').includes('test://a'))?.id ?? ''
  first.stop()
  const second = await readEvents(open.mcp, { ...headers, 'last-event-id': seen })
  await until(() => second.events.length >= 1)
  probe.change('test://c')
  await until(() => second.events.length === 2)
  expect(second.events.map(({ message }) => message?.['params'])).toEqual([{ uri: 'test://b' }, { uri: 'test://c' }])
  second.stop()
})

test('the answer to a call whose stream was dropped arrives when the client comes back', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  const first = await readEvents(open.mcp, headers, rpc(1, 'tools/call', { name: 'drop' }))
  await until(() => first.ended())
  expect(first.events[0]).toMatchObject({ id: expect.stringMatching(/^\d+-0$/), message: undefined })
  expect(first.events.at(-1)?.retry).toBe('500')
  const second = await readEvents(open.mcp, { ...headers, 'last-event-id': first.events[0]?.id ?? '' })
  await until(() => second.ended())
  expect(second.events.at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'after the drop' }] } })
})

test('older clients get no event without data: they would try to parse it', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp, '2025-06-18')
  const stream = await readEvents(open.mcp, headers, rpc(1, 'tools/call', { name: 'drop' }))
  await until(() => stream.ended())
  expect(stream.events.every(({ message }) => message !== undefined)).toBe(true)
})

test('an event id that is none of ours is refused', async () => {
  await using open = await openTestServer(openProbe().service)
  const { headers } = await openSession(open.mcp)
  for (const id of ['x', '9-1', '-1-1', '0']) {
    expect((await send(open.mcp, 'GET', null, { ...headers, 'last-event-id': id })).status).toBe(400)
  }
})

test('after a gap in what was kept, everything that is watched counts as changed', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service, { limits: { replayEvents: 2 } })
  const { headers } = await openSession(open.mcp)
  for (const name of ['a', 'b', 'c', 'd']) await post(open.mcp, subscribe(`test://${name}`), headers)
  const first = await readEvents(open.mcp, headers)
  for (const name of ['a', 'b', 'c', 'd']) probe.change(`test://${name}`)
  await until(() => first.events.length === 5)
  const afterA = first.events[1]?.id ?? ''
  first.stop()
  const second = await readEvents(open.mcp, { ...headers, 'last-event-id': afterA })
  await until(() => new Set(second.events.map(({ message }) => JSON.stringify(message))).size >= 4)
  second.stop()
})

test('a revoked caller is cut from all it holds: session, stream and call', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp)
  const other = await openSession(open.mcp, '2025-11-25', {}, 'other')
  const stream = await readEvents(open.mcp, headers)
  const call = post(open.mcp, rpc(1, 'tools/call', { name: 'hold' }), headers)
  await until(() => probe.holding() === 1)
  expect(open.server.cut((caller) => caller.key === 'Bearer me', 'revoked')).toBe(1)
  await until(() => stream.ended())
  // Nobody would tell its client otherwise: it would wait until its own time is up.
  expect((await call).messages).toMatchObject([{ id: 1, error: { message: 'the session has ended: revoked' } }])
  await until(() => probe.cancelled.length === 1)
  expect((await post(open.mcp, rpc(1, 'ping'), headers)).status).toBe(404)
  expect((await post(open.mcp, rpc(1, 'ping'), other.headers)).status).toBe(200)
})
