import { PassThrough } from 'node:stream'
import { type JsonObject, type JsonValue, RPC_CODES, isJsonObject, settlesWithin } from '@parley/protocol'
import type { EventMessage } from '@parley/codex/port'
import { LinePeer } from '@parley/rpc/line-peer'
import type { App } from './app.ts'
import type { AppDialect, AppServerOptions } from './app-server-options.ts'
import { Approvals } from './approvals.ts'
import { END_MS, LAST_ANSWERS_MS } from './bounds.ts'
import { Conversations } from '../conversation/conversations.ts'
import type { DialectFacts } from './dialect-facts.ts'
import { FACTS as OLDER } from './0.42/facts.ts'
import { FACTS as NEWER } from './0.44/facts.ts'
import { Dispatch } from './dispatch.ts'
import { Handshake } from './handshake.ts'
import { Listeners } from './listeners.ts'
import { Logins } from './logins.ts'
import type { Method } from './method/method.ts'
import { METHODS } from './methods.ts'
import { Notes } from './notes.ts'
import { Searches } from './searches.ts'

const DIALECTS: Readonly<Record<AppDialect, DialectFacts>> = { '0.42': OLDER, '0.44': NEWER }

/**
 * Serves the methods of the old app-server. Settles after the end of the input, within two seconds: turns are interrupted
 * first, requests under way may still be answered, then everything is closed.
 */
export function serveApp(options: AppServerOptions, methods: Readonly<Record<string, Method>> = METHODS): Promise<void> {
  return new AppServer(options, methods).ended
}

class AppServer {
  readonly #options: AppServerOptions
  readonly #dialect: DialectFacts
  readonly #ended = Promise.withResolvers<void>()
  readonly #peer: LinePeer
  readonly #app: App
  readonly #dispatch: Dispatch
  readonly #ending = new AbortController()

  constructor(options: AppServerOptions, methods: Readonly<Record<string, Method>>) {
    this.#options = options
    this.#dialect = DIALECTS[options.dialect]
    const { input, output } = options
    // The end of the input is not the end of the answers.
    const lines = input.pipe(new PassThrough(), { end: false })
    for (const event of ['end', 'close', 'error'] as const) input.on(event, () => void this.#end())
    this.#app = this.#openApp()
    this.#dispatch = new Dispatch(this.#app, methods)
    this.#peer = new LinePeer({
      input: lines,
      output,
      jsonrpc: 'jsonrpc' in this.#dialect.head,
      firstId: 0,
      handlers: {
        request: (method, _params, id, given) => this.#dispatch.answer(method, given, id),
        notified: (method, params) => void this.#app.mcp?.then((mcp) => mcp.notified(method, params)),
        garbage: (reason, value) => this.#garbage(reason, value),
        ended: () => void this.#end(),
      },
    })
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  #openApp(): App {
    const { backend, folder, agent, newId, note } = this.#options
    const dialect = this.#dialect
    const notes = new Notes(note)
    const tell = (method: string, params: JsonObject): void => this.#peer.tell(method, params)
    const ask = (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonValue> =>
      this.#peer.ask(method, params, { signal })
    const approvals = new Approvals({ dialect, notes, ask })
    const line = (conversationId: string, id: string, msg: EventMessage): string =>
      JSON.stringify({ ...dialect.head, method: `codex/event/${msg.type}`, params: { id, msg, conversationId } })
    const send = (text: string): void => this.#peer.sendText(text)
    const lost = (): void => notes.say('a conversation has no listener and too many events: the oldest are dropped')
    const listeners = new Listeners({ newId, send, lost, approvals, folder, line, note })
    const conversations = new Conversations({ backend, forgotten: (id) => listeners.forget(id) })
    const forTools = { agent, folder, notes, backend, conversations, send, ask }
    return {
      dialect,
      folder,
      notes,
      handshake: new Handshake(dialect, agent),
      conversations,
      listeners,
      logins: new Logins({ tell, note }),
      searches: new Searches(),
      mcp: dialect.hasTools ? import('./0.42/mcp-side.ts').then(({ McpSide }) => new McpSide(forTools)) : undefined,
      ending: this.#ending.signal,
      backend: () => backend.get(),
      tell,
    }
  }

  /** What is no message is noted; what can be answered is. */
  #garbage(reason: string, value: JsonValue | undefined): void {
    this.#app.notes.say(`${reason}; it is left out`)
    if (!isJsonObject(value)) return
    const { id, result, error } = value
    if ((typeof id !== 'string' && typeof id !== 'number') || result !== undefined || error !== undefined) return
    const message = 'Invalid request: method is missing or is no text'
    this.#peer.sendText(
      JSON.stringify({
        ...this.#dialect.head,
        id,
        error: { code: RPC_CODES.invalid_request, message, data: { param: 'method' } },
      }),
    )
  }

  async #end(): Promise<void> {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    const { conversations, searches, notes } = this.#app
    searches.stop()
    conversations.stop((error) => notes.say(`a turn could not be stopped: ${String(error)}`))
    await settlesWithin(this.#dispatch.idle(), LAST_ANSWERS_MS)
    await settlesWithin(this.#peer.drained(), LAST_ANSWERS_MS / 10)
    this.#peer.end('the input has ended')
    if (!(await settlesWithin(this.#close(), END_MS - LAST_ANSWERS_MS - LAST_ANSWERS_MS / 10)))
      notes.say('not everything could be closed in time')
    this.#ended.resolve()
  }

  async #close(): Promise<void> {
    await (await this.#app.mcp)?.close()
    await this.#app.conversations.closeAll()
    await this.#options.backend.close()
  }
}
