import { isJsonObject, type JsonObject, RpcError } from '@parley/protocol/wire'
import type { Call, Implementation, Link, Service, ServiceResult } from '@parley/rpc'
import type { McpServerOptions } from './mcp-server-options.ts'
import type { Tools } from './tools.ts'
import { userAgent } from './user-agent.ts'

/** What stood behind `codex mcp-server`: two tools that hold conversations with Codex. */
export interface McpServer extends Service {
  /** Interrupts what runs and lets go of the engine, within a bound. */
  close(): Promise<void>
}

/** The version that clients of a dialect look for, and `tools/list` as that had it. */
const DIALECTS = {
  '0.44': { version: '0.44.0', tools: () => import('./0.44/tool-list.ts') },
  '0.153': { version: '0.153.4', tools: () => import('./0.153/tool-list.ts') },
} as const

/**
 * The server as a service for `serveStdio`. Nothing of an engine, a schema or a translator is loaded before the first
 * call of a tool: this module must stay small, for it stands between a client and its first answer.
 */
export function mcpServer(options: McpServerOptions): McpServer {
  return new CodexMcpServer(options)
}

const EMPTY_LISTS: ReadonlyMap<string, JsonObject> = new Map([
  ['resources/list', { resources: [] }],
  ['resources/templates/list', { resourceTemplates: [] }],
  ['prompts/list', { prompts: [] }],
])

class CodexMcpServer implements McpServer {
  readonly capabilities = { tools: { listChanged: true } }
  readonly answersCancelled = true
  readonly #options: McpServerOptions
  #tools: Promise<Tools> | undefined
  #link: Link | undefined

  constructor(options: McpServerOptions) {
    this.#options = options
  }

  get info(): Implementation {
    const { dialect, agent } = this.#options
    const { version } = DIALECTS[dialect]
    const user_agent = userAgent(version, agent, this.#link?.client.info)
    return { name: 'codex-mcp-server', title: 'Codex', version, user_agent }
  }

  opened(link: Link): void {
    this.#link = link
  }

  call(method: string, params: JsonObject, call: Call): ServiceResult | Promise<ServiceResult> {
    if (method === 'tools/list') return this.#listTools()
    if (method === 'tools/call') return this.#callTool(params, call)
    const empty = EMPTY_LISTS.get(method)
    if (empty === undefined) throw new RpcError('method_not_found', `method not found: ${method}`, { method })
    return empty
  }

  async close(): Promise<void> {
    if (this.#tools !== undefined) await (await this.#tools).close()
  }

  async #listTools(): Promise<ServiceResult> {
    const { TOOLS } = await DIALECTS[this.#options.dialect].tools()
    return { tools: TOOLS }
  }

  async #callTool(params: JsonObject, call: Call): Promise<ServiceResult> {
    const { name, arguments: args } = params
    if (typeof name !== 'string') throw new RpcError('invalid_params', 'name must be a string', { field: 'name' })
    if (args !== undefined && !isJsonObject(args))
      throw new RpcError('invalid_params', 'arguments must be an object', { field: 'arguments' })
    this.#tools ??= import('./tools.ts').then(({ openTools }) => openTools(this.#options))
    return (await this.#tools).call(name, args, call)
  }
}
