import { createInterface } from 'node:readline'
import * as z from 'zod'
import { NOTE_URI, TOUCH_TOOL } from './note.ts'

/** A server with one resource, which tells its subscribers each time that it is touched. */
const Message = z.looseObject({ id: z.number().optional(), method: z.string().optional() })
const say = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = Message.parse(JSON.parse(line))
  if (id === undefined) return
  say({ id, result: resultOf(method) })
  if (method === 'tools/call') say({ method: 'notifications/resources/updated', params: { uri: NOTE_URI } })
})
process.stdin.on('end', () => process.exit(0))

function resultOf(method: string | undefined): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: 'note', version: '1.0.0' },
      }
    case 'tools/list':
      return { tools: [{ name: TOUCH_TOOL, inputSchema: { type: 'object' } }] }
    case 'tools/call':
      return { content: [{ type: 'text', text: 'touched' }] }
    case 'resources/list':
      return { resources: [{ uri: NOTE_URI, name: 'note' }] }
    case undefined:
    default:
      return {}
  }
}
