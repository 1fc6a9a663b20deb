import { createServer } from 'node:http'
import { echoAnswer } from './echo-answer.ts'
import { announce } from './announce.ts'

/** The floor: what `node:http` and JSON alone cost. It reads the body, parses it, answers, and knows nothing of MCP. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const text = echoAnswer(Buffer.concat(chunks).toString('utf8'))
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text)
  })
})
announce(server, '/mcp')
