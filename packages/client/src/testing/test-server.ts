import { randomBytes } from 'node:crypto'
import { JobId, type JsonObject, TOOL_ERROR_META, isJsonObject } from '@parley/protocol'
import {
  type Caller,
  Denied,
  type HttpServer,
  type Link,
  type Service,
  connectClient,
  httpTransport,
  openHttpServer,
  webSocketTransport,
} from '@parley/rpc'
import { type CuttingProxy, openCuttingProxy, type Cut } from './cutting-proxy.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import type { LinkWord } from '../link-word.ts'
import { PATIENCE } from '../patience.ts'
import type { Connect, SteadyOptions } from '../steady-options.ts'

export const JOB = JobId.parse(`job_${'0'.repeat(26)}`)

/** How a server answers a tool: with a result, or with the code of a failure. */
export type Answer = (name: string, input: JsonObject, link: Link | undefined) => JsonObject | Promise<JsonObject>

export const refusal = (code: string, more: object = {}): JsonObject => ({
  isError: true,
  content: [{ type: 'text', text: code }],
  _meta: { [TOOL_ERROR_META]: { code, message: `it says ${code}`, ...more } },
})

/** A real server on loopback behind a wire that can be cut. */
export interface TestServer extends AsyncDisposable {
  readonly server: HttpServer<Caller>
  readonly proxy: CuttingProxy
  /** Every call that arrived, by its tool. */
  readonly calls: string[]
  readonly links: Set<Link>
  readonly connect: (wire: 'ws' | 'http') => Connect
  /** From now on nobody is let in, or everybody again. */
  refuse(isRefusing: boolean): void
}

export async function openServer(
  answer: Answer,
  cutOf: (index: number) => Cut | undefined = () => undefined,
): Promise<TestServer> {
  const calls: string[] = []
  const links = new Set<Link>()
  let isRefusing = false
  const service: Service = {
    info: { name: 'test', version: '1' },
    capabilities: { tools: {} },
    call: async (method, params, call) => {
      if (method === 'tools/list') return { tools: [] }
      const name = typeof params['name'] === 'string' ? params['name'] : ''
      calls.push(name)
      const result = await answer(name, isJsonObject(params['arguments']) ? params['arguments'] : {}, call.link)
      return result['isError'] === true ? result : { content: [], structuredContent: result }
    },
    opened: (link) => void links.add(link),
    closed: (link) => void links.delete(link),
  }
  const server = await openHttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    door: {
      authenticate: () => {
        if (isRefusing) throw new Denied(401, 'unknown_token', 'this token is not known')
        return { key: 'me' }
      },
      serviceFor: () => service,
    },
    stateKey: randomBytes(32),
  })
  const proxy = await openCuttingProxy(Number(new URL(server.url).port), cutOf)
  return {
    server,
    proxy,
    calls,
    links,
    connect: (wire) => (heard, signal) => {
      const at = { url: `${wire}://127.0.0.1:${proxy.port}/${wire === 'ws' ? 'api/mcp/ws' : 'mcp'}`, token: 'me' }
      return connectClient(wire === 'ws' ? webSocketTransport(at) : httpTransport(at), {
        clientInfo: { name: 'test', version: '1' },
        era: wire === 'ws' ? 'legacy' : 'modern',
        onNotification: heard,
        signal,
      })
    },
    refuse: (now) => {
      isRefusing = now
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await server.close(0)
    },
  }
}

/** The options of a client that waits next to nothing, and what it told. */
export function quick(connect: Connect, more: Partial<SteadyOptions> = {}): SteadyOptions & { readonly told: LinkWord[] } {
  const told: LinkWord[] = []
  return {
    connect,
    patience: PATIENCE.worker,
    clock: SYSTEM_CLOCK,
    random: () => 0,
    tell: (word) => void told.push(word),
    ...more,
    limits: { reconnectMinMs: 1, reconnectMaxMs: 4, ...more.limits },
    told,
  }
}
