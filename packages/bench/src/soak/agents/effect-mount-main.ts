import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import * as z from 'zod'

/**
 * A server whose one tool has an effect that can be counted: a line in a file, on the disk before the call is answered. It also writes
 * there when it begins and ends, with the host that has it run.
 */
const Message = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ arguments: z.looseObject({ call: z.string().optional() }).optional() }).optional(),
})
const NAME = randomUUID()
const file = openSync(process.argv[2] ?? '', 'a')
const write = (line: object): void => {
  writeSync(file, `${JSON.stringify({ ...line, mount: NAME, at: Date.now() })}\n`)
  fsyncSync(file)
}
const say = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

// A program in a box of its own does not see which process runs it: of the environment it has this.
write({ step: 'start', host: process.env['LOGNAME'] ?? '' })
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = Message.parse(JSON.parse(line))
  if (id === undefined) return
  const call = params?.arguments?.call
  if (method === 'tools/call') write({ step: 'effect', call })
  say({ id, result: resultOf(method, call) })
})
process.stdin.on('end', () => {
  write({ step: 'stop' })
  closeSync(file)
  process.exit(0)
})

function resultOf(method: string | undefined, call: string | undefined): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'effect', version: '1.0.0' },
      }
    case 'tools/list':
      return { tools: [{ name: 'effect', inputSchema: { type: 'object', properties: { call: { type: 'string' } } } }] }
    case 'tools/call':
      return { content: [{ type: 'text', text: `done ${call}` }] }
    case undefined:
    default:
      return {}
  }
}
