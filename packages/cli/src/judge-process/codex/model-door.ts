import { chmodSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { Denied, type HttpCaller, HttpCallFailed, type HttpReply, type HttpRequest, openHttpServer } from '@parley/rpc'

/** What stands behind the door. */
export interface ModelDoorOptions {
  /** In a folder that nobody else may enter: the file itself is open to the user of the box. */
  readonly socketPath: string
  /** The gateway's model proxy, with `/v1`. */
  readonly baseUrl: string
  /** Added here, so that it is never inside of the box. */
  readonly apiKey: string
  readonly http: HttpCaller
}

/** The one way out of a box: to the gateway's model proxy, and to nothing else. */
export interface ModelDoor {
  close(): Promise<void>
}

/** As the gateway has it. */
const BODY_MAX_BYTES = 32 * 1024 * 1024
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
  const server = await openHttpServer({
    listen: { socketPath: options.socketPath },
    // No MCP is spoken here: the paths are taken so that nothing of a box ever reaches it.
    paths: { http: '/no-mcp', websocket: '/no-websocket' },
    door: { authenticate: refuse, serviceFor: refuse },
    routes: [(request) => answer(request, options)],
    stateKey: randomBytes(32),
  })
  chmodSync(options.socketPath, 0o666)
  return { close: () => server.close(0) }
}

function refuse(): never {
  throw new Denied(403, 'forbidden', 'only the model is behind this door')
}

async function answer(request: HttpRequest, { baseUrl, apiKey, http }: ModelDoorOptions): Promise<HttpReply> {
  const method = request.method === 'POST' ? 'POST' : 'GET'
  const path = SERVED.get(`${request.method} ${request.path}`)
  if (path === undefined) return failure(404, 'unknown_url', `there is only ${[...SERVED.keys()].join(', ')}`)
  const body = method === 'POST' ? await request.body(BODY_MAX_BYTES) : undefined
  const { 'content-encoding': encoding, 'content-type': type, accept } = request.headers
  if (encoding !== undefined) return failure(415, 'unsupported_encoding', 'send the body as it is')
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

/** In the shape of OpenAI's errors, which every client reads. */
function failure(status: number, code: string, message: string): HttpReply {
  return {
    status,
    headers: JSON_TYPE,
    body: JSON.stringify({ error: { message, type: 'invalid_request_error', code, param: null } }),
  }
}
