import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { echoLine, LoadLoop } from './load-loop.ts'

/** The load generator of the WebSocket: each connection has one call under way. Prints what `wrk.lua` prints. */
const { values } = parseArgs({
  options: { url: { type: 'string' }, token: { type: 'string' }, connections: { type: 'string' }, seconds: { type: 'string' } },
})
const headers = values.token === undefined ? {} : { Authorization: `Bearer ${values.token}` }
const sockets = await Promise.all(Array.from({ length: Number(values.connections ?? 1) }, open))

const loop = new LoadLoop(Number(values.seconds ?? 1))
await Promise.all(sockets.map(load))
loop.print()
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
      socket.send(echoLine(id))
    }
    socket.on('message', (data: Buffer) => {
      const text = data.toString('utf8')
      if (!text.includes(`"id":${id}`)) return
      loop.answered(sent, text)
      if (loop.isOver) done()
      else next()
    })
    socket.on('close', () => {
      loop.errors += 1
      done()
    })
    next()
  })
}
