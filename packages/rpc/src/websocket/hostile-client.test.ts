import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Service } from '../service.ts'
import { initializeParams, modern, rpc } from '../fixture/http-caller.ts'
import { openTestServer, type TestServer } from '../fixture/open-server.ts'
import { openProbe, until } from '../fixture/probe-service.ts'

async function dial(open: TestServer) {
  const socket = new WebSocket(open.ws, { headers: { authorization: 'Bearer me' } })
  const messages: JsonObject[] = []
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())))
  socket.on('error', () => undefined)
  await once(socket, 'open')
  const send = (message: object): void => socket.send(JSON.stringify(message))
  return { socket, messages, send, next: (count: number) => until(() => messages.length >= count, `${count} messages`) }
}

test('a change that comes while a socket is closing waits for its end and holds up nobody', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams()))
  await peer.next(1)
  const [link] = probe.links
  peer.socket.pause()
  peer.socket.close()
  await until(() => link?.notify('notifications/x', {}) === false, 'the closing')
  probe.changeList('tools')
  // Whatever the change sets off is over when somebody else was served.
  const other = await dial(open)
  other.send(rpc(1, 'ping'))
  await other.next(1)
  other.socket.terminate()
  expect(probe.links.size).toBe(1)
  peer.socket.terminate()
  await until(() => probe.links.size === 0)
  expect(probe.watchers()).toBe(0)
})

test('a binary frame ends the link at once', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams()))
  await peer.next(1)
  peer.socket.send(Buffer.from('x'))
  const [code] = await once(peer.socket, 'close')
  expect([code, probe.links.size, probe.watchers()]).toEqual([1003, 0, 0])
})

test('a peer that pings and never reads is cut', async () => {
  const probe = openProbe()
  // Its pings are answered once in a turn, so that nothing piles up; it is cut because it answers none of ours.
  await using open = await openTestServer(probe.service, { limits: { streamBufferBytes: 64 * 1024, keepAliveMs: 200 } })
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams()))
  await peer.next(1)
  peer.socket.pause()
  const payload = Buffer.alloc(125)
  for (let at = 0; at < 20_000 && probe.links.size > 0; at += 1) {
    peer.socket.ping(payload)
    if (at % 1000 === 0) await sleep(1)
  }
  await until(() => probe.links.size === 0, 'the cut')
  peer.socket.terminate()
})

test('a ping is answered and nothing is opened before initialize', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'ping'))
  await peer.next(1)
  expect(probe.links.size).toBe(0)
  peer.send(rpc(2, 'initialize', initializeParams('2025-06-18')))
  await peer.next(2)
  expect(peer.messages).toMatchObject([
    { id: 1, result: {} },
    { id: 2, result: { protocolVersion: '2025-06-18' } },
  ])
  peer.socket.terminate()
})

test('who cancels a call takes back the question that it asked', async () => {
  await using open = await openTestServer(openProbe().service)
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams('2025-11-25', { elicitation: {} })))
  peer.send(rpc(2, 'tools/call', { name: 'ask' }))
  await peer.next(2)
  expect(peer.messages[1]).toMatchObject({ id: 1, method: 'elicitation/create' })
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  await peer.next(3)
  expect(peer.messages[2]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } })
  peer.send(rpc(2, 'ping'))
  await peer.next(4)
  expect(peer.messages[3]).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
  peer.socket.terminate()
})

test('a long reason is shortened to what a close frame holds', async () => {
  const probe = openProbe()
  await using open = await openTestServer(probe.service)
  const peer = await dial(open)
  peer.send(rpc(1, 'initialize', initializeParams()))
  await peer.next(1)
  for (const link of probe.links) link.close('é'.repeat(100))
  const [code, reason] = await once(peer.socket, 'close')
  expect([code, String(reason)]).toEqual([1008, 'é'.repeat(61)])
})

function slowWatching() {
  const probe = openProbe()
  const gates: (() => void)[] = []
  const service: Service = {
    ...probe.service,
    watch: async (uri, changed, caller) => {
      const stop = await probe.service.watch?.(uri, changed, caller)
      if (uri.includes('slow')) await new Promise<void>((resolve) => gates.push(resolve))
      return stop ?? (() => undefined)
    },
  }
  const listen = (id: number, ...uris: string[]) =>
    modern(id, 'subscriptions/listen', { notifications: { resourceSubscriptions: uris } }).body
  return { probe, gates, service, listen }
}

test('nothing is told before the acknowledgement, and what changed meanwhile is told after it', async () => {
  const { probe, gates, service, listen } = slowWatching()
  await using open = await openTestServer(service)
  const peer = await dial(open)
  peer.send(listen(1, 'test://a', 'test://slow'))
  await until(() => gates.length === 1)
  probe.change('test://a')
  gates[0]?.()
  await peer.next(2)
  expect(peer.messages.map(({ method }) => method)).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/resources/updated',
  ])
  peer.socket.terminate()
})

test('a listen request takes its id, can be cancelled and leaves nothing behind while it is being opened', async () => {
  const { probe, gates, service, listen } = slowWatching()
  await using open = await openTestServer(service)
  const peer = await dial(open)
  peer.send(listen(1, 'test://slow/1'))
  peer.send(listen(1, 'test://slow/2'))
  await peer.next(1)
  expect(peer.messages).toMatchObject([{ id: 1, error: { code: -32600 } }])
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  peer.send(listen(2, 'test://slow/3'))
  await until(() => gates.length === 2)
  peer.socket.terminate()
  await until(() => open.server.links() === 0)
  for (const go of gates) go()
  await until(() => probe.watchers() === 0, 'the end of all watches')
  expect(peer.messages.length).toBe(1)
})
