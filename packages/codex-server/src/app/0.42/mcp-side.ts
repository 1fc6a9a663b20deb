import { PassThrough } from 'node:stream'
import { isJsonObject, type JsonObject, type JsonValue, messageOf, parseJson } from '@parley/protocol'
import { LineReader, serveStdio } from '@parley/rpc'
import type { Backend } from '../../backend/backend.ts'
import { PeerGone, RemoteFailure, type WireId } from '@parley/rpc/line-peer'
import { type McpServer, mcpServer } from '../../mcp/mcp-server.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from '../error-codes.ts'
import type { UserAgentFacts } from '../app-server-options.ts'
import type { Notes } from '../notes.ts'

const LINE_BYTES = 64 * 1024 * 1024

export interface McpSideOptions {
  readonly agent: UserAgentFacts
  readonly folder: string
  readonly notes: Notes
  backend(): Promise<Backend>
  /** To the client, as it is. */
  send(line: string): void
  ask(method: string, params: JsonObject): Promise<JsonValue>
}

/**
 * The tools, which 0.42 serves on the same wire. They are those of the MCP server, spoken to over a wire inside; the ids
 * of its questions are its own, those of the client stay as they are, since events name them.
 */
export class McpSide {
  readonly #options: McpSideOptions
  readonly #server: McpServer
  readonly #input = new PassThrough()
  readonly #pending = new Map<WireId, PromiseWithResolvers<JsonValue>>()

  constructor(options: McpSideOptions) {
    this.#options = options
    const { agent, folder, notes } = options
    const log = (level: string, line: string): void => {
      if (level === 'warn' || level === 'error') notes.say(line)
    }
    this.#server = mcpServer({ backend: () => options.backend(), dialect: '0.44', agent, folder, log })
    const output = new PassThrough()
    const lines = new LineReader(LINE_BYTES, { line: (line) => this.#take(line), fault: (fault) => notes.say(fault) })
    output.on('data', (chunk: Buffer) => lines.push(chunk))
    void serveStdio({ input: this.#input, output, service: this.#server, warn: (line) => notes.say(line) })
  }

  /** Throws `RemoteFailure`. */
  request(id: WireId, method: string, params: JsonValue | undefined): Promise<JsonValue> {
    if (this.#pending.has(id))
      return Promise.reject(new RemoteFailure(INVALID_REQUEST, 'the id of this request belongs to one that is under way'))
    const answer = Promise.withResolvers<JsonValue>()
    this.#pending.set(id, answer)
    this.#write({ id, method, ...(params === undefined ? {} : { params }) })
    return answer.promise
  }

  notified(method: string, params: JsonObject): void {
    this.#write({ method, params })
  }

  async close(): Promise<void> {
    this.#input.end()
    for (const { reject } of this.#pending.values()) reject(new PeerGone('the input has ended'))
    this.#pending.clear()
    await this.#server.close()
  }

  #write(message: JsonObject): void {
    if (!this.#input.writableEnded) this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #take(line: string): void {
    const message = parseJson(line)
    if (!isJsonObject(message)) return
    const { id, method, params } = message
    if (typeof method === 'string') {
      if (id === undefined) return this.#options.send(line)
      return void this.#relay(id, method, isJsonObject(params) ? params : {})
    }
    if (typeof id !== 'string' && typeof id !== 'number') return
    const answer = this.#pending.get(id)
    this.#pending.delete(id)
    const { result, error } = message
    if (isJsonObject(error)) answer?.reject(failure(error))
    else answer?.resolve(result ?? null)
  }

  /** A question to the client, and its answer back. */
  async #relay(id: JsonValue, method: string, params: JsonObject): Promise<void> {
    try {
      this.#write({ id, result: await this.#options.ask(method, params) })
    } catch (error) {
      const code = error instanceof RemoteFailure ? error.code : INTERNAL_ERROR
      const message = messageOf(error)
      this.#write({ id, error: { code, message } })
    }
  }
}

function failure({ code, message, data }: JsonObject): RemoteFailure {
  return new RemoteFailure(
    typeof code === 'number' ? code : INTERNAL_ERROR,
    typeof message === 'string' ? message : 'it failed',
    data,
  )
}
