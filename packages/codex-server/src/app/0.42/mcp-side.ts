import { type JsonObject, type JsonValue, RPC_CODES, isJsonObject, messageOf, parseJson } from '@parley/protocol'
import { memoryPair, serveMemory } from '@parley/rpc'
import type { LazyBackend } from '../../backend/lazy-backend.ts'
import type { Conversations } from '../../conversation/conversations.ts'
import { PeerGone, RemoteFailure, type WireId } from '@parley/rpc/line-peer'
import { type McpServer, mcpServer } from '../../mcp/mcp-server.ts'
import type { UserAgentFacts } from '../../mcp/user-agent.ts'
import type { Notes } from '../notes.ts'

export interface McpSideOptions {
  readonly agent: UserAgentFacts
  readonly folder: string
  readonly notes: Notes
  readonly conversations: Conversations
  readonly backend: LazyBackend
  /** To the client, as it is. */
  send(line: string): void
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonValue>
}

/**
 * The tools, which 0.42 serves on the same wire and with the same conversations. They are those of the MCP server, spoken to
 * in memory; the ids of its questions are its own, those of the client stay as they are, since events name them.
 */
export class McpSide {
  readonly #options: McpSideOptions
  readonly #server: McpServer
  readonly #wire = memoryPair()
  readonly #pending = new Map<WireId, PromiseWithResolvers<JsonValue>>()
  readonly #questions = new Map<JsonValue, AbortController>()

  constructor(options: McpSideOptions) {
    this.#options = options
    const { backend, agent, folder, notes, conversations } = options
    const log = (level: string, line: string): void => {
      if (level === 'warn' || level === 'error') notes.say(line)
    }
    this.#server = mcpServer({ backend, conversations, dialect: '0.44', agent, folder, log })
    this.#wire.client.listen(
      (text) => this.#take(text),
      () => undefined,
    )
    serveMemory(this.#wire.server, this.#server, { key: 'stdio' })
  }

  /** Throws `RemoteFailure`. */
  request(id: WireId, method: string, params: JsonValue | undefined): Promise<JsonValue> {
    if (this.#pending.has(id))
      return Promise.reject(new RemoteFailure('invalid_request', 'the id of this request belongs to one that is under way'))
    const answer = Promise.withResolvers<JsonValue>()
    this.#pending.set(id, answer)
    this.#write({ id, method, ...(params === undefined ? {} : { params }) })
    return answer.promise
  }

  notified(method: string, params: JsonObject): void {
    this.#write({ method, params })
  }

  async close(): Promise<void> {
    this.#wire.client.close('the input has ended')
    for (const { reject } of this.#pending.values()) reject(new PeerGone('the input has ended'))
    this.#pending.clear()
    await this.#server.close()
  }

  #write(message: JsonObject): void {
    this.#wire.client.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #take(text: string): void {
    const message = parseJson(text)
    if (!isJsonObject(message)) return
    const { id, method } = message
    const params = isJsonObject(message['params']) ? message['params'] : {}
    // The client knows the question by another id, and 0.42 takes none back.
    if (method === 'notifications/cancelled') return this.#questions.get(params['requestId'] ?? null)?.abort()
    if (typeof method === 'string') return id === undefined ? this.#options.send(text) : void this.#relay(id, method, params)
    if (typeof id !== 'string' && typeof id !== 'number') return
    const answer = this.#pending.get(id)
    this.#pending.delete(id)
    const { result, error } = message
    if (isJsonObject(error)) answer?.reject(RemoteFailure.of(error))
    else answer?.resolve(result ?? null)
  }

  /** A question to the client, and its answer back. */
  async #relay(id: JsonValue, method: string, params: JsonObject): Promise<void> {
    const question = new AbortController()
    this.#questions.set(id, question)
    try {
      this.#write({ id, result: await this.#options.ask(method, params, question.signal) })
    } catch (error) {
      const code = error instanceof RemoteFailure ? error.code : RPC_CODES.internal_error
      const message = messageOf(error)
      this.#write({ id, error: { code, message } })
    } finally {
      this.#questions.delete(id)
    }
  }
}
