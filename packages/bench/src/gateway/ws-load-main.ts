import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { median } from '../statistics.ts'
import { ECHO_TEXT } from './echo-call.ts'

/** The load generator of the WebSocket: each connection has one call under way. Prints what `wrk.lua` prints. */
const MICROS_PER_MS = 1_000
const { values } = parseArgs({
  options: { url: { type: 'string' }, token: { type: 'string' }, connections: { type: 'string' }, seconds: { type: 'string' } },
})
const headers = values.token === undefined ? {} : { Authorization: `Bearer ${values.token}` }
const sockets = await Promise.all(Array.from({ length: Number(values.connections ?? 1) }, open))

const latencies: number[] = []
let wrong = 0
let errors = 0
const started = performance.now()
const until = started + Number(values.seconds ?? 1) * 1000
await Promise.all(sockets.map(load))
const seconds = (performance.now() - started) / 1000
latencies.sort((a, b) => a - b)
const p99Ms = (latencies[Math.floor(latencies.length * 0.99)] ?? 0) / MICROS_PER_MS
const p50Ms = (latencies.length === 0 ? 0 : median(latencies)) / MICROS_PER_MS
process.stdout.write(`RESULT ${JSON.stringify({ calls: latencies.length, seconds, p50Ms, p99Ms, errors, wrong })}\n`)
process.exit(0)

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(values.url ?? '', { headers, perMessageDeflate: false })
  await once(socket, 'open')
  const clientInfo = { name: 'bench', version: '1.0.0' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  await once(socket, 'message')
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  return socket
}

/** The floor answers notifications too, so an answer counts only when it carries our text. */
function load(socket: WebSocket): Promise<void> {
  return new Promise((done) => {
    let id = 100
    let sent = 0
    const next = (): void => {
      id += 1
      sent = performance.now()
      socket.send(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":${JSON.stringify(ECHO_TEXT)}}}}`,
      )
    }
    socket.on('message', (data: Buffer) => {
      const text = data.toString('utf8')
      if (!text.includes(`"id":${id}`)) return
      if (!text.includes(ECHO_TEXT)) wrong += 1
      latencies.push((performance.now() - sent) * MICROS_PER_MS)
      if (performance.now() < until) next()
      else done()
    })
    socket.on('close', () => {
      errors += 1
      done()
    })
    next()
  })
}
