import type { Agent } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'
import type { OwnGateway } from '../own/open-gateway.ts'
import { HANG_MS, type HttpAnswer, keepAlive, send } from './http-post.ts'
import type { Malformed } from './malformed-message.ts'
import { malformedMessage, randomOf } from './malformed-message.ts'
import { ACCEPT, callTool, LEGACY, MODERN_META, modernHeaders } from './modern-call.ts'
import type { Tally } from '../soak.ts'

export interface MalformedRun {
  readonly messages: number
  readonly seed: number
  readonly tally: Tally
}

const CONNECTIONS = 16
const GOOD_EVERY = 500
/** One in so many is a broken request of HTTP itself instead of a broken message. */
const HALF_EVERY = 50

/** Malformed messages on a legacy session, or without one in the modern era. */
export async function malformedHttp(era: 'legacy' | 'modern', gateway: OwnGateway, run: MalformedRun): Promise<void> {
  const agent = keepAlive(CONNECTIONS)
  try {
    const headers = era === 'legacy' ? await sessionHeaders(agent, gateway) : modernHeaders(gateway.token, 'ping')
    let sent = 0
    const worker = async (): Promise<void> => {
      while (sent < run.messages) {
        sent += 1
        const number = sent
        if (number % GOOD_EVERY === 0) await good(agent, gateway, run, era)
        if (number % HALF_EVERY === 0) await halfRequest(gateway, number, run, era)
        else if (era === 'legacy') await one(agent, gateway, headers, malformedMessage(run.seed, number), run, era)
        else await one(agent, gateway, ...enveloped(gateway, headers, malformedMessage(run.seed, number)), run, era)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  } finally {
    agent.destroy()
  }
}

async function sessionHeaders(agent: Agent, gateway: OwnGateway): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', accept: ACCEPT, authorization: `Bearer ${gateway.token}` }
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'soak', version: '1' } }
  const opened = await send(
    agent,
    gateway.mcp,
    'POST',
    headers,
    JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  )
  const session = { ...headers, 'mcp-protocol-version': LEGACY, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  await send(agent, gateway.mcp, 'POST', session, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  return session
}

async function one(
  agent: Agent,
  gateway: OwnGateway,
  headers: Record<string, string>,
  malformed: Malformed,
  run: MalformedRun,
  era: string,
): Promise<void> {
  run.tally.count(`${era} http sent`)
  const answer = await answerTo(agent, gateway, headers, malformed, run, era)
  if (answer === undefined) return
  run.tally.count(`${era} http answered ${answer.status}`)
  const what = `${era} http, ${malformed.kind}: ${malformed.bytes.subarray(0, 120).toString('latin1')} -> ${answer.status} ${answer.text.slice(0, 200)}`
  run.tally.expect(fits(malformed, answer, era), what)
}

/** A keep-alive connection may end between two requests: one more try tells that from a crash. */
async function answerTo(
  agent: Agent,
  gateway: OwnGateway,
  headers: Record<string, string>,
  malformed: Malformed,
  run: MalformedRun,
  era: string,
): Promise<HttpAnswer | undefined> {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      return await send(agent, gateway.mcp, 'POST', headers, malformed.bytes)
    } catch (error) {
      if (attempt === 2) run.tally.problem(`${era} http, ${malformed.kind}: no answer, ${String(error)}`)
    }
  }
  return undefined
}

/** Every second message of the modern era is given a right envelope and right headers, so that it gets past them. */
function enveloped(
  gateway: OwnGateway,
  headers: Record<string, string>,
  malformed: Malformed,
): [Record<string, string>, Malformed] {
  if (malformed.id % 2 === 0 || malformed.fate === 'unparsable') return [headers, malformed]
  const value: unknown = JSON.parse(malformed.bytes.toString('utf8'))
  const parsed = Envelope.safeParse(value)
  if (!parsed.success) return [headers, malformed]
  const { method, params } = parsed.data
  const name = params['name'] ?? params['uri']
  const bytes = Buffer.from(JSON.stringify({ ...parsed.data, params: { ...params, _meta: MODERN_META } }))
  return [modernHeaders(gateway.token, method, typeof name === 'string' ? name : undefined), { ...malformed, bytes }]
}
const Envelope = z.looseObject({ method: z.string().regex(/^[\x21-\x7e]+$/), params: z.record(z.string(), z.unknown()) })

/** The modern era has statuses of its own for much of what the legacy one answers with 200. */
function fits({ fate }: Malformed, { status, text }: HttpAnswer, era: string): boolean {
  const refused = status >= 400 && status < 500 && text.includes('"error"')
  const served = status === 200 && (text.includes('"error"') || text.includes('"isError":true'))
  if (era === 'modern') return refused || served || (fate === 'silent' && status === 202) || (fate === 'either' && status === 200)
  if (fate === 'unparsable' || fate === 'refused') return refused
  if (fate === 'served') return served
  if (fate === 'silent') return status === 202 || refused
  return status === 200 || refused
}

async function good(agent: Agent, gateway: OwnGateway, { tally }: MalformedRun, era: string): Promise<void> {
  tally.count(`${era} http good calls`)
  const text = `still here ${Math.round(performance.now())}`
  const answer = await callTool(agent, gateway.mcp, gateway.token, 'echo', { text }).catch((error: unknown) => ({
    text: String(error),
  }))
  tally.expect(answer['text'] === text, `${era} http: a good call answered ${JSON.stringify(answer)}`)
}

const HALVES: readonly string[] = [
  'POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 500\r\n\r\n{"jsonrpc":',
  'POST /mcp HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{"jsonrpc":',
  'POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Le',
  '\u0016\u0003\u0001\u0002\u0000 hello',
  'POST /mcp HTTP/9.9\r\n\r\n',
  'GET /api/mcp/ws HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n',
  'POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Length: -5\r\n\r\n',
]

/** Half a request and then nothing: the server answers or closes, or we go away in the middle of it. */
async function halfRequest(gateway: OwnGateway, number: number, { seed, tally }: MalformedRun, era: string): Promise<void> {
  const random = randomOf(seed, number)
  tally.count(`${era} http half requests`)
  const url = new URL(gateway.url)
  const socket = connect({ host: url.hostname, port: Number(url.port) })
  const over = new Promise<void>((done) => {
    socket.on('close', () => done())
    socket.on('error', () => undefined)
  })
  socket.resume()
  socket.write(random.pick(HALVES).replace('HOST', url.host).replace('TOKEN', gateway.token), 'latin1')
  await Promise.race([over, wait(random.between(0, 20), undefined, { ref: false })])
  socket.destroy()
  const closed = await Promise.race([over.then(() => true), wait(HANG_MS, false, { ref: false })])
  tally.expect(closed, `${era} http: a socket did not close`)
}
