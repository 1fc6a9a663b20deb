import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { Denied, restarting } from '../door.ts'
import type { CallerTable, Holding } from '../limit/callers.ts'
import type { Caller } from '../service.ts'
import { TUNNEL_PIECE_BYTES, TunnelEnd } from './tunnel-end.ts'

/** Somebody who wants to be one end of a tunnel. Their socket is not open yet: a refusal is still an HTTP answer. */
export interface Knock<C extends Caller> {
  readonly caller: C
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** They have gone away. */
  readonly signal: AbortSignal
}

/** A WebSocket beside MCP's, whose messages are handed on and not read. */
export interface TunnelRoute<C extends Caller> {
  readonly path: string
  /** Says what becomes of an end, or throws `Denied`. May wait for the other one. */
  meet(knock: Knock<C>): Promise<(end: TunnelEnd) => void>
}

/** Takes the ends of tunnels in. Each counts as a connection of its caller, and ends with their token. */
export class TunnelEndpoint<C extends Caller> {
  readonly route: TunnelRoute<C>
  readonly #callers: CallerTable<C>
  readonly #isClosing: () => boolean
  readonly ends = new Set<TunnelEnd>()
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: TUNNEL_PIECE_BYTES + 1,
  })

  constructor(route: TunnelRoute<C>, callers: CallerTable<C>, isClosing: () => boolean) {
    this.route = route
    this.#callers = callers
    this.#isClosing = isClosing
  }

  /** Takes an authenticated upgrade request over, or throws `Denied`. */
  async accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { caller, query }: Pick<Knock<C>, 'caller' | 'query'>,
  ): Promise<void> {
    const callers = this.#callers
    // A page has no use for it, and would bring a person's rights along.
    if (request.headers.origin !== undefined) throw new Denied(403, 'forbidden_origin', 'a page may not open a tunnel')
    const gone = new AbortController()
    let end: TunnelEnd | undefined
    // It counts, and ends with its token, from now on: `meet` may wait.
    const holding: Holding<C> = {
      caller,
      lasting: true,
      end: (reason) => (end === undefined ? void socket.destroy() : end.close(reason, true)),
    }
    callers.add(holding)
    socket.once('close', () => {
      callers.remove(holding)
      gone.abort()
    })
    // Nobody may say anything before the answer; whoever ends the connection is heard only while it is read.
    const hasGone = (): void => void socket.destroy()
    for (const event of ['data', 'end'] as const) socket.on(event, hasGone)
    try {
      const take = await this.route.meet({ caller, query, headers: request.headers, signal: gone.signal })
      for (const event of ['data', 'end'] as const) socket.off(event, hasGone)
      socket.pause()
      if (this.#isClosing()) throw restarting()
      this.#server.handleUpgrade(request, socket, head, (accepted) => {
        const opened = new TunnelEnd(accepted)
        end = opened
        this.ends.add(opened)
        void opened.closed.then(() => this.ends.delete(opened))
        take(opened)
      })
    } catch (error) {
      callers.remove(holding)
      throw error
    }
  }

  sweep(): void {
    for (const end of this.ends) end.ping()
  }
}
