import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { initializeParams, openSession, post, rpc } from '../fixture/http-caller.ts'
import { openUnreadRoom } from '../limit/unread-room.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { testWire } from '../fixture/served-wire.ts'
import { openTestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'
import { rawPost, sendRaw } from '../fixture/raw-request.ts'
import { JsonText } from '../message/text.ts'
import type { Service } from '../service.ts'
import { HttpEndpoint } from './endpoint.ts'
import { EventStream } from './event-stream.ts'
import { portOf } from './listen.ts'
import { ResponseOver } from './response-over.ts'
import { HttpSession } from './session.ts'

test('a session in use counts as seen: its idle time begins when the call is over', async () => {
  const probe = openProbe()
  const served = { ...testWire(probe.service, { sessionIdleMs: 100 }), now: () => 0 }
  const client = { info: undefined, capabilities: {} }
  const { service } = probe
  const session = new HttpSession({
    id: 's',
    served,
    service,
    caller: { key: 'me' },
    client,
    revision: '2025-11-25',
    onEnd: () => {},
  })
  let answered = false
  const outlet = { send: () => true, drained: () => Promise.resolve() }
  session.link.request(
    { kind: 'request', id: 1, method: 'tools/call', params: { name: 'hold' }, bytes: 100 },
    outlet,
    () => (answered = true),
  )
  expect(session.isIdle(1000)).toBe(false)
  probe.release()
  await until(() => answered)
  expect([session.isIdle(1050), session.isIdle(1101)]).toEqual([false, true])
})

test('a stream that is ending takes nothing more, and says so', async () => {
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => responses.push(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const peer = sendRaw(portOf(server), 'GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(() => responses.length === 1)
  for (const response of responses) {
    const stream = new EventStream(response, {
      bufferBytes: 1000,
      open: new Set(),
      unread: openUnreadRoom(DEFAULT_LIMITS).ofCaller({ key: 'me' }),
      headers: {},
    })
    expect(stream.send('1')).toBe(true)
    stream.end()
    expect(stream.send('2')).toBe(false)
    stream.keepAlive()
    await stream.drained()
    expect(stream.over).toBe(true)
  }
  peer.socket.destroy()
  server.close()
})

test('a batch keeps its session alive, and is told when the session is gone', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const { headers } = await openSession(open.mcp, '2025-03-26')
  expect((await post(open.mcp, [rpc(1, 'ping')], headers)).messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  const nothing = await post(open.mcp, [{ jsonrpc: '2.0', method: 'notifications/x' }], headers)
  expect(nothing).toMatchObject({ status: 202, text: '' })
  expect((await post(open.mcp, [rpc(1, 'ping')], { 'mcp-session-id': 'gone' })).status).toBe(404)
  expect((await post(open.mcp, [rpc(1, 'ping')])).status).toBe(400)
})

test('a batch whose client left before the first message leaves no stream behind', async () => {
  const gate = Promise.withResolvers<void>()
  let begun = false
  let over = false
  const service: Service = {
    ...openProbe().service,
    call: async (_method, _params, call) => {
      begun = true
      await gate.promise
      call.log('info', 'late')
      over = true
      return {}
    },
  }
  const endpoint = new HttpEndpoint(testWire(service))
  const responses: ServerResponse[] = []
  const server = createServer((request, response) => {
    responses.push(response)
    const caller = { key: 'me' }
    const exchange = { request, response, over: new ResponseOver(response), caller, remoteAddress: '', headers: undefined }
    endpoint.serve({ ...exchange, again: () => caller, refuse: () => undefined })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  const opened = await post(`http://127.0.0.1:${port}/`, rpc(0, 'initialize', initializeParams('2025-03-26')))
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  const peer = sendRaw(port, rawPost([rpc(1, 'tools/list')], headers))
  await until(() => begun)
  peer.socket.destroy()
  await until(() => responses.at(-1)?.destroyed === true)
  gate.resolve()
  await until(() => over)
  expect(endpoint.openStreams.size).toBe(0)
  server.close()
  server.closeAllConnections()
})

test('a result that came as several lines of text is one event', async () => {
  const service: Service = {
    ...openProbe().service,
    call: (_method, _params, call) => {
      call.log('info', 'first')
      return new JsonText('{"a":\n\n1}')
    },
  }
  await using open = await openTestServer(service)
  const { headers } = await openSession(open.mcp)
  const reply = await post(open.mcp, rpc(1, 'tools/list'), headers)
  expect(reply.messages).toMatchObject([{ method: 'notifications/message' }, { id: 1, result: { a: 1 } }])
})
