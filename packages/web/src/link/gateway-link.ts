import type { JsonObject, ToolInput, ToolName, ToolOutput } from '@parley/protocol'
import { type Client, WireError, browserWebSocketTransport, connectClient } from '@parley/rpc/browser'
import { whoAmI } from '../api.ts'

/** Who wants to hear of a connection and what comes over it. */
export interface LinkListener {
  /** A connection is there: the first one, or another after a loss. What was asked of the one before is forgotten. */
  opened(client: Client): void
  /** There is none, and it is sure that another is tried for: what cannot be read now is read then. */
  lost?(): void
  notified?(method: string, params: JsonObject): void
}

/** `lost`: what it does next is said as soon as it is known whether the gateway answers at all. */
export type LinkState =
  | { readonly kind: 'connecting' | 'live' }
  | { readonly kind: 'lost'; readonly next?: { readonly isAnswering: boolean; readonly againMs: number } }

export interface GatewayLinkOptions {
  readonly token: string
  readonly onState: (state: LinkState) => void
  /** The gateway no longer takes the token; the link is over. */
  readonly onSignedOut: (message: string) => void
}

const RETRY_FIRST_MS = 500
const RETRY_MAX_MS = 10_000
/** A socket of a machine that slept looks open; only a question that nobody answers tells. */
const PING_EVERY_MS = 30_000
const PING_LIMIT_MS = 10_000

/** One WebSocket to the gateway, opened again whenever it is lost, until it is closed or the token is refused. */
export class GatewayLink {
  readonly #options: GatewayLinkOptions
  readonly #listeners = new Set<LinkListener>()
  readonly #closing = new AbortController()
  #client: Client | undefined
  #isLost = false
  #held: Promise<void> | undefined

  constructor(options: GatewayLinkOptions) {
    this.#options = options
    void this.#run()
  }

  /** Tells the listener of every connection and every loss from now on, also of what is so already. The answer ends it. */
  follow(listener: LinkListener): () => void {
    this.#listeners.add(listener)
    if (this.#client !== undefined) listener.opened(this.#client)
    else if (this.#isLost) listener.lost?.()
    return () => this.#listeners.delete(listener)
  }

  /** Once, on the connection that is there. For what a person asks for with a click. */
  call<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>> {
    if (this.#client === undefined)
      return Promise.reject(new WireError('closed', 'The gateway cannot be reached right now. Try again in a moment.'))
    return this.#client.callTool(name, input)
  }

  /**
   * The token is about to end, because the person asked for it: a connection that is lost from now on says nothing about the gateway,
   * and nobody is asked about it before the answer is called.
   */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return resolve
  }

  close(): void {
    this.#closing.abort()
    void this.#client?.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    this.#options.onState({ kind: 'connecting' })
    for (let failures = 0; !signal.aborted; failures += 1) {
      const client = await this.#connect()
      if (client !== undefined && !signal.aborted) {
        failures = 0
        await this.#serve(client)
      }
      await client?.close()
      await this.#held
      if (signal.aborted) return
      this.#options.onState({ kind: 'lost' })
      // A browser does not say why a socket was refused; this does.
      const me = await whoAmI(this.#options.token)
      if (signal.aborted) return
      if (me.kind === 'refused' && me.isSignedOut) {
        this.#options.onSignedOut(me.message)
        return
      }
      this.#isLost = true
      for (const listener of [...this.#listeners]) listener.lost?.()
      const againMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures)
      const isAnswering = me.kind === 'ok' || me.code !== 'unreachable'
      this.#options.onState({ kind: 'lost', next: { isAnswering, againMs } })
      await pause(againMs, signal)
    }
  }

  async #connect(): Promise<Client | undefined> {
    const url = `${location.origin.replace(/^http/, 'ws')}/api/mcp/ws`
    try {
      // The legacy era: there the gateway sends what happens in a job as notifications.
      return await connectClient(browserWebSocketTransport({ url, token: this.#options.token }), {
        clientInfo: { name: 'parley-page', version: '1' },
        era: 'legacy',
        signal: this.#closing.signal,
        onNotification: (method, params) => {
          for (const listener of this.#listeners) listener.notified?.(method, params)
        },
      })
    } catch {
      return undefined
    }
  }

  async #serve(client: Client): Promise<void> {
    this.#client = client
    this.#isLost = false
    this.#options.onState({ kind: 'live' })
    const pings = setInterval(() => {
      client.request('ping', {}, { timeoutMs: PING_LIMIT_MS }).catch(() => void client.close())
    }, PING_EVERY_MS)
    for (const listener of [...this.#listeners]) listener.opened(client)
    await client.closed
    clearInterval(pings)
    this.#client = undefined
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
