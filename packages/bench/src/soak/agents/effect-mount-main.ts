import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import * as z from 'zod'

/**
 * A server whose one tool has an effect that can be counted: a line in a file, on the disk before the call is answered. It also writes
 * there when it begins and ends, with the host that has it run. A call may have it take its time, before the effect and after it.
 */
const Arguments = z.looseObject({
  call: z.string().optional(),
  before_ms: z.number().default(0),
  after_ms: z.number().default(0),
})
const Message = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ arguments: Arguments.optional() }).optional(),
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
  if (method === 'tools/call') void act(id, params?.arguments ?? Arguments.parse({}))
  else say({ id, result: resultOf(method) })
})
process.stdin.on('end', () => {
  write({ step: 'stop' })
  closeSync(file)
  process.exit(0)
})

async function act(id: number | string, { call, before_ms, after_ms }: z.infer<typeof Arguments>): Promise<void> {
  if (before_ms > 0) await wait(before_ms)
  write({ step: 'effect', call })
  if (after_ms > 0) await wait(after_ms)
  say({ id, result: { content: [{ type: 'text', text: `done ${call}` }] } })
}

function resultOf(method: string | undefined): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'effect', version: '1.0.0' },
      }
    case 'tools/list':
      return { tools: [{ name: 'effect', inputSchema: { type: 'object', properties: { call: { type: 'string' } } } }] }
    case undefined:
    default:
      return {}
  }
}
