import { chmodSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { type HttpFetcher, HttpCallFailed } from '@parley/fetch'
import {
  BodyWithoutRoom,
  type Caller,
  Denied,
  type HttpReply,
  type HttpRequest,
  type Limits,
  openHttpServer,
  type ServerHolds,
} from '@parley/rpc'

/** What stands behind the door. */
export interface ModelDoorOptions {
  /** In a folder that nobody else may enter: the file itself is open to the user of the box. */
  readonly socketPath: string
  /**
   * The gateway's model proxy, with `/v1`, and the key that is added here, so that it is never inside of the box. Asked for each
   * request: another turn may have another one.
   */
  readonly target: () => { readonly baseUrl: string; readonly apiKey: string }
  readonly http: HttpFetcher
  readonly limits?: Partial<Limits>
}

/** The one way out of a box: to the gateway's model proxy, and to nothing else. */
export interface ModelDoor {
  /** What it holds for the box at this moment. */
  holds(): ServerHolds & { readonly requests: number }
  close(): Promise<void>
}

/** As the gateway has it. */
const BODY_MAX_BYTES = 32 * 1024 * 1024
/** Requests that are passed on at the same time; the gateway serves no more to one key either. */
const REQUESTS_MAX = 4
/**
 * Whatever runs in a box may dial the door, as often as it likes. Of connections that say nothing those go that waited the
 * longest, and bodies that do not end make room for what comes on an older connection, so that the engine goes on beside them.
 */
const DOOR_LIMITS: Partial<Limits> = {
  connections: 64,
  inFlightRequests: REQUESTS_MAX,
  bodyBytesPerCaller: 2 * BODY_MAX_BYTES,
  bodyBytes: 2 * BODY_MAX_BYTES,
  bodyBytesKept: 0,
  // Nothing is far away: the whole of a head and a body is there in a second.
  requestTimeoutMs: 30_000,
  stalledReaderMs: 60_000,
}
/** Nobody in a box is anybody else. */
const ENGINE: Caller = { key: 'engine' }
const RETRY_SECONDS = 2
const HEADERS_MS = 10 * 60_000
const IDLE_MS = 5 * 60_000
/** What is asked for below the base URL; the gateway serves no more to such a key either. */
const SERVED: ReadonlyMap<string, string> = new Map([
  ['POST /v1/responses', '/responses'],
  ['GET /v1/models', '/models'],
])
/** What of an answer's head a client of the model needs. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'cache-control', 'x-parley-call'] as const
const JSON_TYPE = { 'content-type': 'application/json' }

/** Opens the door on a socket file. */
export async function openModelDoor(options: ModelDoorOptions): Promise<ModelDoor> {
  const passed = { requests: 0 }
  const server = await openHttpServer({
    listen: { socketPath: options.socketPath },
    // No MCP is spoken here: the path is taken so that nothing of a box ever reaches it.
    paths: { http: '/no-mcp' },
    door: { authenticate: refuse, serviceFor: refuse },
    routes: [(request) => answer(request, options, passed)],
    stateKey: randomBytes(32),
    limits: { ...DOOR_LIMITS, ...options.limits },
  })
  chmodSync(options.socketPath, 0o666)
  return { holds: () => ({ ...server.holds(), ...passed }), close: () => server.close(0) }
}

function refuse(): never {
  throw new Denied(403, 'forbidden', 'only the model is behind this door')
}

async function answer(request: HttpRequest, options: ModelDoorOptions, passed: { requests: number }): Promise<HttpReply> {
  const method = request.method === 'POST' ? 'POST' : 'GET'
  const path = SERVED.get(`${request.method} ${request.path}`)
  if (path === undefined) return failure(404, 'unknown_url', `there is only ${[...SERVED.keys()].join(', ')}`)
  if (request.headers['content-encoding'] !== undefined)
    return failure(415, 'unsupported_encoding', 'send the body as it is', { connection: 'close' })
  let body: Uint8Array | undefined
  try {
    if (method === 'POST') body = await request.body(BODY_MAX_BYTES, ENGINE)
  } catch (error) {
    if (error instanceof BodyWithoutRoom) return overloaded('too many bytes are on their way at once', { connection: 'close' })
    throw error
  }
  if (request.signal.aborted) return overloaded('nobody waits for an answer any more')
  // Only now, so that a body that does not end takes the place of nobody.
  if (passed.requests >= REQUESTS_MAX) return overloaded(`more than ${REQUESTS_MAX} requests are under way`)
  passed.requests += 1
  request.signal.addEventListener('abort', () => (passed.requests -= 1), { once: true })
  return await passOn(request, { method, path, ...(body === undefined ? {} : { body }) }, options)
}

async function passOn(
  request: HttpRequest,
  { method, path, body }: { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: Uint8Array },
  { target, http }: ModelDoorOptions,
): Promise<HttpReply> {
  const { baseUrl, apiKey } = target()
  const { 'content-type': type, accept } = request.headers
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(accept === undefined ? {} : { accept }),
  }
  try {
    const { signal } = request
    const call = { method, url: `${baseUrl}${path}`, headers, headersMs: HEADERS_MS, idleMs: IDLE_MS, signal } as const
    const answered = await http.call(body === undefined ? call : { ...call, body })
    const passed = PASSED_HEADERS.flatMap((name) => {
      const value = answered.headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    return { status: answered.status, headers: Object.fromEntries(passed), body: answered.body }
  } catch (error) {
    if (error instanceof HttpCallFailed) return failure(502, 'gateway_unreachable', 'the gateway does not answer')
    throw error
  }
}

/** Not a 429, after which Codex would not ask again. */
const overloaded = (message: string, headers: Readonly<Record<string, string>> = {}): HttpReply =>
  failure(503, 'overloaded', `${message}; try again shortly`, { 'retry-after': String(RETRY_SECONDS), ...headers })

/** In the shape of OpenAI's errors, which every client reads. */
function failure(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}): HttpReply {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  return {
    status,
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify({ error: { message, type, code, param: null } }),
  }
}
