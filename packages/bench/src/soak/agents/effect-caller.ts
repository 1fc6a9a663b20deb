import { setTimeout as wait } from 'node:timers/promises'
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { McpError, ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { RpcError } from '@parley/protocol'
import { type ClientTransport, connectClient, httpTransport, webSocketTransport } from '@parley/rpc'
import type { AgentsWorld, SoakAgent } from './agents-world.ts'
import { MOUNT_NAME } from './agents-world.ts'
import type { SeededRandom } from '../random.ts'
import type { Tally } from '../../soak.ts'

const TOOL = `${MOUNT_NAME}_effect`
const CALL_MS = 30_000
const CONNECT_MS = 30_000
const PAUSE_MS = { least: 5, most: 60 }
const RETRY_MS = 150
const INFO = { name: 'soak', version: '1' }
/** What the SDK says in the place of an answer that did not come. */
const NO_ANSWER: readonly number[] = [ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout]
const KINDS = ['http legacy', 'http modern', 'ws legacy', 'ws modern', 'sdk'] as const

/** What became of a call, as far as its caller can know. */
export type CallEnd = 'success' | 'error' | 'unknown'

/** One way to an agent: what a call says, or what it throws. */
interface Way {
  call(call: string): Promise<{ readonly content?: unknown; readonly isError?: unknown }>
  close(): Promise<unknown>
}

/**
 * Somebody who calls an agent's tool again and again, each call under a name of its own. When the connection is lost it comes back, to
 * any gateway; a call whose fate it does not know is never sent again.
 */
export class EffectCaller {
  readonly ends = new Map<string, CallEnd>()
  readonly #world: AgentsWorld
  readonly #agent: SoakAgent
  readonly #name: string
  readonly #random: SeededRandom
  readonly #tally: Tally
  readonly #ended = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #made = 0
  #succeeded = 0
  lastError = ''

  constructor(world: AgentsWorld, agent: SoakAgent, name: string, random: SeededRandom, tally: Tally) {
    this.#world = world
    this.#agent = agent
    this.#name = name
    this.#random = random
    this.#tally = tally
  }

  /** How many calls have come back well. */
  get succeeded(): number {
    return this.#succeeded
  }
  get made(): number {
    return this.#made
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const way = await this.#connect().catch((error: unknown) => this.#failed('not let in', error))
      if (way === undefined) await wait(RETRY_MS)
      else {
        await this.#use(way)
        await way.close().catch(() => undefined)
      }
    }
  }

  /** Until a call comes back whose fate is not known, or it is somebody else's turn. */
  async #use(way: Way): Promise<void> {
    const calls = this.#random.between(5, 60)
    for (let at = 0; at < calls && !this.#ended.signal.aborted; at += 1) {
      this.#made += 1
      const call = `${this.#name}-${this.#made}`
      // Before it is known how it ends, nothing is known of it.
      this.ends.set(call, 'unknown')
      const end = await this.#one(way, call)
      this.ends.set(call, end)
      this.#tally.count(`calls: ${end}`)
      if (end === 'success') this.#succeeded += 1
      else if (end === 'unknown') return
      await wait(this.#random.between(PAUSE_MS.least, PAUSE_MS.most))
    }
  }

  async #one(way: Way, call: string): Promise<CallEnd> {
    try {
      const { content, isError } = await way.call(call)
      if (isError === true) return 'error'
      const said = JSON.stringify(content)
      this.#tally.expect(said.includes(`"done ${call}"`), `${call} was answered with ${said}`)
      return 'success'
    } catch (error) {
      this.#failed('call', error)
      const isAnswer = error instanceof RpcError || (error instanceof McpError && !NO_ANSWER.includes(error.code))
      return isAnswer ? 'error' : 'unknown'
    }
  }

  #failed(what: string, error: unknown): undefined {
    this.lastError = `${what}: ${error instanceof Error ? error.message : String(error)}`
  }

  async #connect(): Promise<Way> {
    const kind = this.#random.pick(KINDS)
    const gateway = this.#random.between(0, this.#world.gateways - 1)
    this.#tally.count('connections tried')
    if (kind === 'sdk') return sdkWay(this.#world.mcp(gateway), this.#agent.token)
    const { token } = this.#agent
    const transport = kind.startsWith('http')
      ? httpTransport({ url: this.#world.mcp(gateway), token })
      : webSocketTransport({ url: this.#world.ws(gateway), token })
    const counted = answeredOnce(transport, (id) => this.#tally.problem(`request ${id} of ${this.#name} was answered twice`))
    const client = await connectClient(counted, {
      clientInfo: INFO,
      era: kind.endsWith('legacy') ? 'legacy' : 'modern',
      signal: AbortSignal.timeout(CONNECT_MS),
    })
    return {
      call: (call) => client.callToolRaw(TOOL, { call }, { timeoutMs: CALL_MS }),
      close: () => client.close(),
    }
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
    call: async (call) => {
      const { content, isError } = await client.callTool({ name: TOOL, arguments: { call } }, undefined, { timeout: CALL_MS })
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
