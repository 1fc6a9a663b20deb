import { randomBytes } from 'node:crypto'
import type { ConversationOptions, Engine } from '@parley/agent'
import { openFileTranscripts, openMini, openModelClient } from '@parley/mini'
import { RpcError, isJsonObject } from '@parley/protocol'
import { type HttpFetcher } from '@parley/fetch'
import { type Service, connectClient, memoryPair, memoryTransport, serveMemory } from '@parley/rpc'
import { INSTRUCTIONS, MODEL, TOOL } from './asked.ts'

const INFO = { name: 'bench', version: '1' }
const ECHO: Service = {
  info: INFO,
  capabilities: { tools: {} },
  call(method, params) {
    if (method === 'tools/list')
      return {
        tools: [
          {
            name: TOOL,
            description: 'Says what it is told.',
            inputSchema: {
              type: 'object',
              properties: { text: { type: 'string' } },
              required: ['text'],
              additionalProperties: false,
            },
          },
        ],
      }
    const args = params['arguments']
    const text = isJsonObject(args) ? args['text'] : undefined
    if (method !== 'tools/call' || typeof text !== 'string') throw new RpcError('method_not_found', method)
    return { content: [{ type: 'text', text }] }
  },
}

/** The own engine, its transcripts in `folder`, asking a model at `url`. */
export function openEngine({ url, folder, http }: { url: string; folder: string; http: HttpFetcher }): Engine {
  return openMini({
    model: openModelClient({
      endpoint: { wire: 'responses', baseUrl: url, apiKey: 'bench' },
      http,
      now: Date.now,
      random: randomBytes,
    }),
    facts: () => ({ contextTokens: 10_000_000, maxOutputTokens: null, prices: null }),
    connectMount: (mount) => {
      if (mount.server.kind !== 'linked') throw new TypeError('only what is in this process')
      return connectClient(mount.server.open(), { clientInfo: INFO })
    },
    transcripts: openFileTranscripts(folder, { lock: () => ({ release: () => {} }) }),
    now: Date.now,
    random: randomBytes,
  })
}

/** What every conversation is opened with: one mounted tool. */
export const conversationOptions = (folder: string): ConversationOptions => ({
  model: MODEL,
  instructions: INSTRUCTIONS,
  folder,
  approvals: 'never',
  reach: 'read-only',
  network: false,
  mounts: [{ name: 'bench', required: true, server: { kind: 'linked', open: openEcho } }],
})

const openEcho = () => {
  const pair = memoryPair()
  serveMemory(pair.server, ECHO, { key: 'bench' })
  return memoryTransport(pair.client)
}
