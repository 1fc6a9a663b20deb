import { afterEach, expect, test } from 'vitest'
import { connectClient } from '../client/index.ts'
import type { Call, Caller, Service } from '../service.ts'
import { dialFrames } from './dial-frames.ts'
import { listenFrames } from './listen-frames.ts'
import { frameTransport, serveFrames } from './mcp-frames.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Says who called it, and remembers who stopped waiting. */
function tellingService() {
  const cancelled: string[] = []
  const service: Service = {
    info: { name: 'told', version: '1' },
    capabilities: { tools: {} },
    call: (method, params, call: Call) => {
      if (method === 'tools/list') return { tools: [{ name: 'who', inputSchema: { type: 'object' } }] }
      if (params['name'] !== 'hang') return { content: [{ type: 'text', text: `${call.caller.key} ${'x'.repeat(200_000)}` }] }
      return new Promise((_resolve, reject) =>
        call.signal.addEventListener('abort', () => {
          cancelled.push(call.caller.key)
          reject(new Error('cancelled'))
        }),
      )
    },
  }
  return { service, cancelled }
}

async function openBoth(pieceBytes?: number) {
  const { service, cancelled } = tellingService()
  const limits = pieceBytes === undefined ? {} : { pieceBytes }
  const listener = await listenFrames({
    listen: { host: '127.0.0.1', port: 0 },
    limits,
    onLink: (link) =>
      serveFrames<Caller>({
        link,
        service,
        caller: { key: 'link' },
        callerIn: (meta) => ({ key: typeof meta['for'] === 'string' ? meta['for'] : 'nobody' }),
      }),
  })
  const link = await dialFrames({ url: listener.url, limits })
  const client = await connectClient(frameTransport(link), { clientInfo: { name: 'test', version: '1' }, era: 'modern' })
  closing.push(
    () => listener.close(),
    () => client.close(),
  )
  return { client, cancelled, link }
}

test.for([undefined, 4_096])('MCP passes over a link, each request for whom it says, in pieces of %s', async (pieceBytes) => {
  const { client } = await openBoth(pieceBytes)
  const asked = (who: string) => client.exchange('tools/call', { name: 'who', arguments: {}, _meta: { for: who } })
  const answers = await Promise.all(['ada', 'bob'].map(asked))
  expect(answers.map(({ result }) => JSON.parse(JSON.stringify(result)).content[0].text.slice(0, 3))).toEqual(['ada', 'bob'])
})

test('who stops waiting cancels, and a link that ends cancels all', async () => {
  const { client, cancelled, link } = await openBoth()
  const stop = new AbortController()
  const hang = (who: string, signal?: AbortSignal) =>
    client.exchange('tools/call', { name: 'hang', arguments: {}, _meta: { for: who } }, signal === undefined ? {} : { signal })
  const first = hang('ada', stop.signal)
  stop.abort()
  await expect(first).rejects.toThrow('abort')
  await expect.poll(() => cancelled).toEqual(['ada'])
  const second = hang('bob')
  link.close()
  await expect(second).rejects.toThrow('closed')
  await expect.poll(() => cancelled).toEqual(['ada', 'bob'])
})
