import { PassThrough } from 'node:stream'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { initializeParams, rpc } from '../fixture/http-caller.ts'
import { until } from '../fixture/probe-service.ts'
import type { Service } from '../service.ts'
import { serveStdio } from './server.ts'

/** A service whose only tool ends when it is cancelled, and says so first. */
function holding(more: Partial<Service>): Service {
  return {
    info: { name: 'holding', version: '1' },
    capabilities: { tools: {} },
    call: (_method, _params, call) =>
      new Promise((resolve) => {
        call.cancellation.addEventListener('abort', () => {
          call.notify('notifications/last', { id: call.id })
          resolve({ content: [] })
        })
      }),
    ...more,
  }
}

async function cancelled(more: Partial<Service>): Promise<readonly JsonObject[]> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const messages: JsonObject[] = []
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) messages.push(JSON.parse(line))
  })
  const ended = serveStdio({ input, output, service: holding(more) })
  for (const message of [
    rpc('a', 'tools/call', { name: 'x' }),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } },
    rpc('b', 'initialize', initializeParams()),
    rpc('c', 'initialize', initializeParams()),
  ])
    input.write(`${JSON.stringify(message)}\n`)
  await until(() => messages.some(({ id }) => id === 'c'))
  input.end()
  await ended
  return messages
}

test('a cancelled call is over, unless its service answers it', async () => {
  const ids = (messages: readonly JsonObject[]) => messages.map(({ id, method }) => id ?? method)
  expect(ids(await cancelled({}))).toEqual(['b', 'c'])
  expect(new Set(ids(await cancelled({ answersCancelled: true })))).toEqual(new Set(['notifications/last', 'a', 'b', 'c']))
})

test('a client that was served before it said who it is may still say so, once', async () => {
  const messages = await cancelled({})
  expect(messages).toMatchObject([
    { id: 'b', result: { protocolVersion: '2025-11-25' } },
    { id: 'c', error: { code: -32_600 } },
  ])
})
