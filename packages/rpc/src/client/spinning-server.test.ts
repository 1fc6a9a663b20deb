import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { closeHttp, listen } from './fixture/sdk1-server.ts'
import { connectClient, httpTransport } from './index.ts'

const INITIALIZED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }
const FLOOR_MS = 40
/** Timers may fire a little early. */
const SLACK_MS = 5

/** Ends a stream at once, and asks for the next without a wait. */
function endAtOnce(response: ServerResponse, id: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 's' })
  response.end(`id: ${id}\nretry: 0\ndata: \n\n`)
}

/** When the streams were asked for, by what they go on from: the session's own, or that of a call. */
async function opened(method: string, count: number): Promise<number[]> {
  const times: number[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += String(chunk)))
    request.on('end', () => {
      const message: { id?: number; method?: string } = text === '' ? {} : JSON.parse(text)
      if (message.method === 'initialize') {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' })
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: INITIALIZED }))
      }
      if (message.method !== undefined && message.id === undefined) return void response.writeHead(202).end()
      const isCall = message.id !== undefined || Number(request.headers['last-event-id']) >= 1_000
      if (method === 'GET' && message.id !== undefined) return void response.writeHead(500).end()
      if (method === 'POST' && !isCall) return void response.writeHead(405).end()
      times.push(performance.now())
      endAtOnce(response, (isCall ? 1_000 : 0) + times.length)
    })
  })
  const url = `http://127.0.0.1:${await listen(server)}/mcp`
  const limits = { reconnectMs: FLOOR_MS, reconnectMaxMs: 10_000 }
  const client = await connectClient(httpTransport({ url }), { clientInfo: { name: 't', version: '1' }, era: 'legacy', limits })
  const call = method === 'POST' ? client.request('tools/list').catch(() => undefined) : undefined
  await expect.poll(() => times.length, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(count)
  await client.close()
  await closeHttp(server)
  await call
  return times.slice(1, count).map((time, at) => time - (times[at] ?? 0))
}

test('a stream of a session that ends at once is opened again ever more slowly, whatever its server says', async () => {
  for (const [at, gapMs] of (await opened('GET', 5)).entries())
    expect(gapMs).toBeGreaterThanOrEqual(FLOOR_MS * 2 ** at - SLACK_MS)
})

test('the stream of a call is resumed as soon as its server asks for, and without a message from it not more often than we want', async () => {
  const [, ...polls] = await opened('POST', 5)
  for (const gapMs of polls) expect(gapMs).toBeGreaterThanOrEqual(FLOOR_MS - SLACK_MS)
})
