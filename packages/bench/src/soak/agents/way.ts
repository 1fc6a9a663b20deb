import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { type JsonObject, RpcError } from '@parley/protocol'
import { type ClientTransport, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import type { SeededRandom } from '../random.ts'
import { type AgentsWorld, MOUNT_NAME, type SoakAgent } from './agents-world.ts'

const TOOL = `${MOUNT_NAME}_effect`
const CONNECT_MS = 30_000
const INFO = { name: 'soak', version: '1' }
/** What the SDK says in the place of an answer that did not come. */
const NO_ANSWER: readonly number[] = [ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout]
const KINDS = ['http legacy', 'http modern', 'ws legacy', 'ws modern', 'sdk'] as const

export interface WayOptions {
  readonly timeoutMs: number
  /** Fires when whoever called wants no answer any more. */
  readonly signal?: AbortSignal
}

/** One way to an agent: what a call of its effect says, or what it throws. */
export interface Way {
  call(args: JsonObject, options: WayOptions): Promise<{ readonly content?: unknown; readonly isError?: unknown }>
  close(): Promise<unknown>
}

/** The code of an error that is an answer; `undefined` where the fate of the call is not known. */
export function answeredCode(error: unknown): number | undefined {
  if (error instanceof RpcError) return error.code
  return error instanceof McpError && !NO_ANSWER.includes(error.code) ? error.code : undefined
}

/** A way of any kind, through any gateway. `twice`: a request on it was answered again. */
export async function openWay(
  world: AgentsWorld,
  { token }: SoakAgent,
  random: SeededRandom,
  twice: (id: string) => void,
): Promise<Way> {
  const kind = random.pick(KINDS)
  const gateway = random.between(0, world.gateways - 1)
  if (kind === 'sdk') return sdkWay(world.mcp(gateway), token)
  const transport = kind.startsWith('http')
    ? httpTransport({ url: world.mcp(gateway), token })
    : webSocketTransport({ url: world.ws(gateway), token })
  const client = await connectClient(answeredOnce(transport, twice), {
    clientInfo: INFO,
    era: kind.endsWith('legacy') ? 'legacy' : 'modern',
    signal: AbortSignal.timeout(CONNECT_MS),
  })
  return {
    call: (args, options) => client.callToolRaw(TOOL, args, options),
    close: () => client.close(),
  }
}

/** The official client. It says less of what went wrong, and comes back by itself where it can. */
async function sdkWay(url: string, token: string): Promise<Way> {
  const client = new SdkClient(INFO)
  const made: unknown = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
  if (!isTransport(made)) throw new Error('not a transport')
  await client.connect(made, { timeout: CONNECT_MS })
  return {
    call: async (args, { timeoutMs: timeout, signal }) => {
      const more = signal === undefined ? { timeout } : { timeout, signal }
      const { content, isError } = await client.callTool({ name: TOOL, arguments: args }, undefined, more)
      return { content, isError }
    },
    close: () => client.close(),
  }
}

/** The SDK's own types disagree about optional callbacks under exact optional properties. */
const isTransport = (value: unknown): value is Transport => value instanceof StreamableHTTPClientTransport

const ANSWER_ID = /^\{(?:"result":.*,)?"jsonrpc":"2\.0","id":(\d+),?/s

/** A transport on which it is seen when a request gets a second answer. */
function answeredOnce(transport: ClientTransport, twice: (id: string) => void): ClientTransport {
  const seen = new Set<string>()
  return {
    kind: transport.kind,
    open: (sink, limits, warn) =>
      transport.open(
        {
          receive: (text, during) => {
            const id = text.includes('"method":') ? undefined : ANSWER_ID.exec(text)?.[1]
            if (id !== undefined && seen.has(id)) twice(id)
            if (id !== undefined) seen.add(id)
            return sink.receive(text, during)
          },
          fail: (id, error) => sink.fail(id, error),
          sessionLost: () => sink.sessionLost(),
          ended: (end) => sink.ended(end),
        },
        limits,
        warn,
      ),
  }
}
