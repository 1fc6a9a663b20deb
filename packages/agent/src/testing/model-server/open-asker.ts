import type { ModelWire } from '@parley/protocol'
import { randomBytes } from 'node:crypto'
import { type HttpCaller, openHttpCaller } from '@parley/rpc'
import type { ModelAnswer, ModelClient, ModelExchange, ModelListener, ModelRequest } from '../../model.ts'
import type { Answer } from './answer.ts'
import { type ModelServer, type ModelServerOptions, openModelServer } from './model-server.ts'
import { type ModelClientOptions, openModelClient } from '../../model/model-client.ts'
import type { ModelLimits } from '../../model/model-limits.ts'

/** All that a listener was told, in order. */
export type Told = readonly [what: string, ...rest: unknown[]]

export interface Asked {
  readonly answer: ModelAnswer
  readonly told: readonly Told[]
  readonly exchanges: readonly ModelExchange[]
}

/** A client and a server that speak the same wire, with what the client's waits were. */
export interface Asker extends AsyncDisposable {
  readonly server: ModelServer
  readonly client: ModelClient
  readonly waits: readonly number[]
  ask(request?: Partial<ModelRequest>, signal?: AbortSignal, hear?: (told: Told) => void): Promise<Asked>
}

export const KEY = 'sk-very-secret-0123456789'

export const REQUEST: ModelRequest = {
  model: 'm1',
  instructions: 'Be brief.',
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
  tools: [],
  parallelToolCalls: true,
}

/** Waits between tries take no time; they are only written down. */
export async function openAsker(
  wire: ModelWire,
  answers: ModelServerOptions['answers'] | readonly Answer[],
  more: {
    readonly limits?: Partial<ModelLimits>
    readonly unsupported?: readonly string[]
    readonly now?: () => number
    readonly sleep?: ModelClientOptions['sleep']
    readonly headers?: Readonly<Record<string, string>>
    readonly connections?: number
  } = {},
): Promise<Asker> {
  const server = await openModelServer({ wire, answers, unsupported: more.unsupported ?? [] })
  const http: HttpCaller = openHttpCaller({ connectMs: 5_000, connections: more.connections ?? 50 })
  const waits: number[] = []
  const client = openModelClient({
    endpoint: { wire, baseUrl: `${server.url}/`, apiKey: KEY, headers: more.headers ?? {} },
    http,
    limits: more.limits ?? {},
    now: more.now ?? Date.now,
    random: randomBytes,
    sleep:
      more.sleep ??
      ((ms) => {
        waits.push(ms)
        return Promise.resolve()
      }),
  })
  return {
    server,
    client,
    waits,
    async ask(request = {}, signal = new AbortController().signal, hear) {
      const told: Told[] = []
      const exchanges: ModelExchange[] = []
      const tell = (...one: Told): void => {
        told.push(one)
        hear?.(one)
      }
      const answer = await client.sample({ ...REQUEST, ...request }, listenerOf(tell, exchanges), signal)
      return { answer, told, exchanges }
    },
    async [Symbol.asyncDispose]() {
      await http.close()
      await server.close()
    },
  }
}

function listenerOf(tell: (...told: Told) => void, exchanges: ModelExchange[]): ModelListener {
  return {
    messageDelta: (item, delta) => tell('message', item, delta),
    reasoningDelta: (item, part, delta, raw) => tell('reasoning', item, part, delta, raw),
    reasoningPart: (item, part) => tell('part', item, part),
    retry: ({ attempt, waitMs, reason, brief, most }) => tell('retry', attempt, waitMs, reason, brief, most),
    usage: (call, usage, estimated) => tell('usage', call, usage, estimated),
    exchanged: (exchange) => {
      exchanges.push(exchange)
      tell('exchanged', exchange.outcome)
    },
  }
}

/** All deltas of one kind after the last retry, as one text. */
export function textTold(told: readonly Told[], kind: 'message' | 'reasoning'): string {
  const from = told.findLastIndex(([what]) => what === 'retry') + 1
  return told
    .slice(from)
    .filter(([what]) => what === kind)
    .map((one) => (kind === 'message' ? one[2] : one[3]))
    .join('')
}

export const usagesTold = (told: readonly Told[]): readonly Told[] => told.filter(([what]) => what === 'usage')
