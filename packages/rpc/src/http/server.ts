import { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { HeldCalls, Rounds, TaskTable } from '@parley/task'
import { BodyRoom } from '../limit/body-room.ts'
import { CallerTable } from '../limit/callers.ts'
import type { ServedWire } from '../core/served-wire.ts'
import { StateSeal } from '../core/request-state.ts'
import { Turns } from '../limit/turns.ts'
import { openReplayRoom, openUnreadRoom } from '../limit/unread-room.ts'
import { type Credentials, Denied, type Door, SHUTDOWN_REASON, type Wire, restarting } from '../door.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits.ts'
import type { Caller } from '../service.ts'
import { authorizationOf } from './credentials.ts'
import { TunnelEndpoint } from '../tunnel/tunnel-endpoint.ts'
import { WebSocketEndpoint } from '../websocket/endpoint.ts'
import { answerDenied, answerEmpty, answerJson, deniedBody, deniedHeaders, type Headers } from './answer.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { HttpEndpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { Connections, connectionOf } from './connections.ts'
import { createServer, listen, portOf, urlOf } from './listen.ts'
import { HostCheck, headerOf, remoteAddressOf, splitTarget } from './request-check.ts'
import { reject } from './reject-upgrade.ts'
import { ResponseOver } from './response-over.ts'
import { Routes } from './routes.ts'
import type { HttpServer, HttpServerOptions, ServerHolds } from './server-options.ts'

const DEFAULT_PATHS = { http: '/mcp', websocket: '/api/mcp/ws' }
const SWEEP_MS = 5_000

/** Serves both wires and everything else on one port, or on one socket file. */
export async function openHttpServer<C extends Caller>(options: HttpServerOptions<C>): Promise<HttpServer<C>> {
  const wires = new Wires(options)
  const server = createServer(options.listen, wires.limits.requestTimeoutMs, (request, response) =>
    wires.request(request, response),
  )
  server.on('connection', (socket) => wires.connections.take(socket))
  server.on('secureConnection', (socket: Socket) => wires.connections.secured(socket))
  server.on('upgrade', (request, socket, head) => void wires.upgrade(request, socket, head))
  await listen(server, options.listen)
  // A connection that could not be accepted is no reason to end the process.
  server.on('error', (error) => options.observer?.failed?.({ wire: 'http', method: 'listen', error }))
  wires.startSweeping()
  return {
    url: urlOf(server, options.listen),
    port: portOf(server),
    cut: (matches, reason) => wires.cut(matches, reason),
    links: () => wires.links,
    holds: () => wires.holds,
    close: (graceMs) => wires.close(server, graceMs),
  }
}

class Wires<C extends Caller> {
  readonly #options: HttpServerOptions<C>
  readonly #paths: NonNullable<HttpServerOptions<C>['paths']>
  readonly #callers = new CallerTable<C>()
  readonly #http: ServedWire<C>
  readonly #endpoint: HttpEndpoint<C>
  readonly #sockets: WebSocketEndpoint<C>
  readonly #tunnels: TunnelEndpoint<C> | undefined
  readonly #hosts: HostCheck
  readonly #trusted: ReadonlySet<string>
  readonly #routes: Routes
  #timer: NodeJS.Timeout | undefined
  #sweeps = 0
  readonly #active = { calls: 0 }
  #inFlight = 0
  #closing = false
  /** Kept by ourselves: Node forgets upgraded sockets and does not know those whose TLS handshake never ends. */
  readonly connections: Connections

  constructor(options: HttpServerOptions<C>) {
    this.#options = options
    this.#paths = options.paths ?? DEFAULT_PATHS
    const limits = { ...DEFAULT_LIMITS, ...options.limits }
    // States are sealed by one gateway and opened by another: they go by the time of day.
    const seal = new StateSeal(options.stateKey, limits.requestStateMs, options.now ?? Date.now)
    const bodies = new BodyRoom(limits)
    const unread = openUnreadRoom(limits)
    const replays = openReplayRoom(limits)
    const turns = new Turns(limits)
    const held: ServedWire<C>['held'] = new HeldCalls(limits.stillHeldMs)
    const tasks = new TaskTable(limits)
    const rounds = new Rounds(tasks, limits)
    this.connections = new Connections(limits)
    const servedWire = (wire: Wire): ServedWire<C> => ({
      wire,
      door: options.door,
      limits,
      observer: options.observer ?? {},
      seal,
      callers: this.#callers,
      bodies,
      unread,
      replays,
      turns,
      held,
      tasks,
      rounds,
      active: this.#active,
      now: options.now ?? (() => performance.now()),
    })
    this.#http = servedWire('http')
    this.#endpoint = new HttpEndpoint(this.#http)
    this.#sockets = new WebSocketEndpoint(servedWire('websocket'))
    this.#tunnels = options.tunnel && new TunnelEndpoint(options.tunnel, this.#callers, () => this.#closing)
    this.#hosts = new HostCheck(options.allowedHosts ?? [])
    this.#trusted = new Set(options.trustedProxies)
    this.#routes = new Routes({
      routes: options.routes ?? [],
      trustedProxies: this.#trusted,
      observer: this.#http.observer,
      bodies,
    })
  }

  get limits(): Limits {
    return this.#http.limits
  }
  get links(): number {
    return this.#callers.lasting
  }

  get holds(): ServerHolds {
    return {
      connections: this.connections.size,
      bodyBytes: this.#http.bodies.heldBytes,
      unreadBytes: this.#http.unread.heldBytes,
      replayBytes: this.#http.replays.heldBytes,
    }
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    const over = new ResponseOver(response)
    if (!this.connections.asked(request.socket, over)) return void request.socket.destroy()
    this.#inFlight += 1
    over.add(() => {
      this.#inFlight -= 1
    })
    const url = request.url ?? '/'
    const path = url === this.#paths.http ? url : splitTarget(url)[0]
    const isSocketFile = !('port' in this.#options.listen)
    const refusal = isSocketFile ? undefined : this.#hosts.refusal(request)
    if (refusal !== undefined) {
      this.#denied('http', 403, 'forbidden_origin', request)
      return answerJson(response, 403, JSON.stringify({ error: { code: 'forbidden_origin', message: refusal } }))
    }
    const cors = corsHeaders(request)
    if (path !== this.#paths.http) return void this.#routes.answer(request, response)
    if (request.method === 'OPTIONS') return answerEmpty(response, 204, preflightHeaders(request))
    this.#mcp({ request, response, over, headers: cors })
  }

  #mcp(arriving: Pick<Exchange<C>, 'request' | 'response' | 'over' | 'headers'>): void {
    const { request, response, headers } = arriving
    if (this.#closing) return answerDenied(response, restarting(), { connection: 'close', ...headers })
    const { door } = this.#options
    const remoteAddress = remoteAddressOf(request, this.#trusted)
    const credentials: Credentials = {
      authorization: headerOf(request, 'authorization'),
      remoteAddress,
      host: request.headers.host,
      wire: 'http',
    }
    const again = (): C | Promise<C> => askAgain(door, credentials)
    const refuse = (error: unknown, more: Headers = {}): void =>
      answerDenied(response, this.#asDenied('http', error, request), { ...headers, ...more })
    const enter = (caller: C): void => this.#endpoint.serve({ ...arriving, caller, remoteAddress, again, refuse })
    try {
      const caller = door.authenticate(credentials)
      if (caller instanceof Promise) caller.then(enter).catch((error: unknown) => refuse(error))
      else enter(caller)
    } catch (error) {
      refuse(error)
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Until `ws` takes over nobody else listens, and a reset connection must not end the process.
    const ignore = (): undefined => undefined
    socket.on('error', ignore)
    connectionOf(socket)?.upgraded()
    const [path, query] = splitTarget(request.url ?? '/')
    try {
      const tunnels = path === this.#tunnels?.route.path ? this.#tunnels : undefined
      if (tunnels === undefined && (this.#paths.websocket === undefined || path !== this.#paths.websocket))
        return reject(socket, 404, JSON.stringify({ error: { code: 'not_found', message: 'no WebSocket here' } }))
      const refusal = 'port' in this.#options.listen ? this.#hosts.refusal(request) : undefined
      if (refusal !== undefined) throw new Denied(403, 'forbidden_origin', refusal)
      const limits = this.#http.limits
      const asked = new URLSearchParams(query)
      const queryToken = tunnels === undefined && (this.#options.queryToken ?? true)
      const credentials: Credentials = {
        authorization: authorizationOf(request, asked, queryToken),
        remoteAddress: remoteAddressOf(request, this.#trusted),
        host: request.headers.host,
        wire: 'websocket',
      }
      const { door } = this.#options
      const caller = await door.authenticate(credentials)
      if (this.#closing) throw restarting()
      if (this.#callers.isFull(caller, limits)) {
        throw new Denied(429, 'overloaded', 'too many connections are open: close one', 10)
      }
      if (tunnels !== undefined) return await tunnels.accept(request, socket, head, { caller, query: asked })
      socket.off('error', ignore)
      this.#sockets.accept(request, socket, head, { caller, again: () => askAgain(door, credentials) })
    } catch (error) {
      const denied = this.#asDenied('websocket', error, request)
      reject(socket, denied.status, deniedBody(denied), deniedHeaders(denied))
    }
  }

  startSweeping(): void {
    const { keepAliveMs, streamAfterMs, stalledReaderMs } = this.#http.limits
    const every = Math.min(SWEEP_MS, keepAliveMs, streamAfterMs, stalledReaderMs)
    const sweepsPerPing = Math.max(1, Math.round(keepAliveMs / every))
    this.#timer = setInterval(() => {
      this.#sweeps += 1
      this.connections.sweep()
      this.#endpoint.sweep(this.#sweeps % sweepsPerPing === 0)
      if (this.#sweeps % sweepsPerPing !== 0) return
      this.#sockets.sweep()
      this.#tunnels?.sweep()
    }, every)
    this.#timer.unref()
  }

  cut(matches: (caller: C) => boolean, reason: string): number {
    return this.#callers.cut(matches, reason)
  }

  /** First no more is taken and listeners are sent away; then calls may finish; then everything is ended. */
  async close(server: Server, graceMs: number): Promise<void> {
    this.#closing = true
    const deadline = performance.now() + graceMs
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    this.#callers.endListening(SHUTDOWN_REASON)
    this.#endpoint.endListening()
    await this.#waitWhile(() => this.#active.calls > 0, deadline)
    clearInterval(this.#timer)
    this.#callers.cut(() => true, SHUTDOWN_REASON)
    this.#endpoint.endAll(SHUTDOWN_REASON)
    this.#sockets.endAll(SHUTDOWN_REASON)
    server.closeIdleConnections()
    await this.#waitWhile(() => this.#inFlight > 0 || this.#sockets.size + (this.#tunnels?.ends.size ?? 0) > 0, deadline)
    this.#sockets.terminateAll()
    this.connections.destroyAll()
    await closed
  }

  async #waitWhile(busy: () => boolean, deadline: number): Promise<void> {
    while (busy() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS))
  }

  #asDenied(wire: Wire, error: unknown, request: IncomingMessage): Denied {
    if (!(error instanceof Denied)) this.#http.observer.failed?.({ wire, method: 'authenticate', error })
    const denied =
      error instanceof Denied ? error : new Denied(503, 'unavailable', 'the server cannot check credentials right now', 1)
    this.#denied(wire, denied.status, denied.code, request)
    return denied
  }

  #denied(wire: Wire, status: number, code: string, request: IncomingMessage): void {
    this.#http.observer.denied?.({ wire, status, code, remoteAddress: remoteAddressOf(request, this.#trusted) })
  }
}
const CLOSE_POLL_MS = 10

function askAgain<C extends Caller>(door: Door<C>, credentials: Credentials): C | Promise<C> {
  return door.again === undefined ? door.authenticate(credentials) : door.again(credentials)
}
