import { once } from 'node:events'
import { Agent, type ClientRequest, request } from 'node:http'
import { WebSocket } from 'ws'
import type { OwnGateway } from '../own/open-gateway.ts'
import { send } from './http-post.ts'
import { ACCEPT, LEGACY, MODERN_META, modernHeaders } from './modern-call.ts'

const WATCHED = 'resource://account'

/** Somebody who wants to hear of changes, and how they leave. */
export interface Subscriber {
  /** Changes heard of so far. */
  updates(): number
  /** Stops reading without leaving: what comes now piles up on the way. */
  freeze(): void
  drop(): Promise<void>
}

export type SubscriberKind = 'session deleted' | 'session abandoned' | 'socket closed' | 'socket torn' | 'listen torn'
export const SUBSCRIBER_KINDS: readonly SubscriberKind[] = [
  'session deleted',
  'session abandoned',
  'socket closed',
  'socket torn',
  'listen torn',
]

export function openSubscriber(kind: SubscriberKind, agent: Agent, gateway: OwnGateway): Promise<Subscriber> {
  switch (kind) {
    case 'session deleted':
    case 'session abandoned':
      return openSession(agent, gateway, kind === 'session deleted')
    case 'socket closed':
    case 'socket torn':
      return openSocket(gateway, kind === 'socket closed')
    case 'listen torn':
      return openListen(gateway)
  }
}

async function openSession(agent: Agent, gateway: OwnGateway, deletes: boolean): Promise<Subscriber> {
  const headers = { 'content-type': 'application/json', accept: ACCEPT, authorization: `Bearer ${gateway.token}` }
  const post = (more: Record<string, string>, message: object) =>
    send(agent, gateway.mcp, 'POST', { ...headers, ...more }, JSON.stringify({ jsonrpc: '2.0', ...message }))
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'soak', version: '1' } }
  const opened = await post({}, { id: 0, method: 'initialize', params })
  const session = { 'mcp-protocol-version': LEGACY, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  await post(session, { method: 'notifications/initialized' })
  const stream = await openStream('GET', gateway, { ...headers, ...session, accept: 'text/event-stream' }, undefined)
  const subscribed = await post(session, { id: 1, method: 'resources/subscribe', params: { uri: WATCHED } })
  if (!subscribed.text.includes('"result"')) throw new Error(`subscribe answered ${subscribed.status}: ${subscribed.text}`)
  return {
    ...stream,
    drop: async () => {
      await stream.drop()
      if (deletes) await send(agent, gateway.mcp, 'DELETE', { ...headers, ...session }, '')
    },
  }
}

async function openSocket(gateway: OwnGateway, closes: boolean): Promise<Subscriber> {
  const socket = new WebSocket(gateway.ws, { headers: { Authorization: `Bearer ${gateway.token}` } })
  await once(socket, 'open')
  let updates = 0
  const subscribed = new Promise<void>((done, fail) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString('utf8')
      if (text.includes('notifications/resources/updated')) updates += 1
      else if (text.includes('"id":1')) done()
    })
    socket.on('close', (code) => fail(new Error(`the socket was closed with ${code}`)))
    socket.on('error', () => undefined)
  })
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'soak', version: '1' } }
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }))
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: WATCHED } }))
  await subscribed
  return {
    updates: () => updates,
    freeze: () => {
      socket.pause()
      // Large answers fill every buffer on the way, which small notifications would not.
      for (let id = 100; id < 100 + FILLERS; id += 1) {
        socket.send(
          JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { text: FILLER } } }),
        )
      }
    },
    drop: async () => {
      // One that does not read is cut by the gateway, perhaps before it leaves.
      if (socket.readyState === WebSocket.CLOSED) return
      const ended = once(socket, 'close')
      if (closes) socket.close(1000)
      else socket.terminate()
      await ended
    },
  }
}
const FILLERS = 200
const FILLER = 'x'.repeat(64 * 1024)

async function openListen(gateway: OwnGateway): Promise<Subscriber> {
  const params = { notifications: { resourceSubscriptions: [WATCHED] }, _meta: MODERN_META }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen', params })
  return openStream('POST', gateway, modernHeaders(gateway.token, 'subscriptions/listen'), body)
}

/** An event stream on a connection of its own; resolves when its head is there, and for a listen when that is acknowledged. */
async function openStream(
  method: string,
  gateway: OwnGateway,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<Subscriber> {
  const own = new Agent({ keepAlive: false })
  let updates = 0
  const outgoing: ClientRequest = request(gateway.mcp, { method, agent: own, headers })
  outgoing.on('error', () => undefined)
  const opened = new Promise<void>((done, fail) => {
    outgoing.on('response', (incoming) => {
      if (incoming.statusCode !== 200) fail(new Error(`the stream answered ${incoming.statusCode}`))
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        updates += chunk.split('notifications/resources/updated').length - 1
        if (chunk.includes('acknowledged')) done()
      })
      incoming.on('error', () => undefined)
      if (body === undefined) done()
    })
    outgoing.on('close', () => fail(new Error('the stream was closed')))
  })
  outgoing.end(body)
  await opened
  return {
    updates: () => updates,
    freeze: () => outgoing.socket?.pause(),
    drop: () => {
      outgoing.destroy()
      own.destroy()
      return Promise.resolve()
    },
  }
}
