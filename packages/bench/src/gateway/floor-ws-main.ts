import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { announce } from './announce.ts'
import { echoAnswer } from './echo-answer.ts'

/** The floor of the WebSocket: `ws` and JSON alone. */
const server = createServer()
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (data: Buffer) => socket.send(echoAnswer(data.toString('utf8'))))
})
announce(server, '/', 'ws')
