import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { type JsonObject, type ModelWire, isJsonObject, parseJson } from '@parley/protocol'
import { type Answer, type ModelReply, errorReply } from './answer.ts'
import { checkChat } from './chat-check.ts'
import { chatReply } from './chat-reply.ts'
import { type Given, checkResponses } from './responses-check.ts'
import { responsesReply } from './responses-reply.ts'
import { pause, writeStream } from './stream-writer.ts'
import { type Violation, shown } from './violation.ts'

/**
 * A model on a loopback port, for tests, benchmarks and long runs. It speaks OpenAI's Responses API or Chat Completions
 * as the real service does, refuses what the real service refuses (a call without its output, reasoning without its
 * item, names and strict schemas that do not fit), and answers well or badly as it is told:
 *
 *     await using server = await openModelServer({
 *       wire: 'responses',
 *       answers: [
 *         FAILURES.rateLimited({ 'retry-after': '1' }),
 *         { pieces: [{ reasoning: 'Hm.', encrypted: 'e1' }, { call: 'shell', arguments: { argv: ['ls'] } }] },
 *         { pieces: [{ text: 'Done.' }], manner: { cutAfterEvents: 3 } },
 *         (…)
 *       ],
 *     })
 *     openModelClient({ endpoint: { wire: 'responses', baseUrl: server.url, apiKey: 'k' }, … })
 *     expect(server.violations).toEqual([])
 *
 * A list is played once, one answer per request, and refused requests take none. A function sees the request and
 * answers whatever it likes; `byTurn` makes one that answers by how far the conversation is, whoever asks and how often.
 * `main.ts` is the same as a process of its own.
 */
export interface ModelServerOptions {
  readonly wire: ModelWire
  /** 0, as when left out: any free one. */
  readonly port?: number
  readonly answers: readonly Answer[] | ((request: ReceivedRequest) => Answer | Promise<Answer>)
  /** Fields that this provider does not know: a request with one is refused as the real service does. */
  readonly unsupported?: readonly string[]
  /** How many of the newest requests are kept for looking at. */
  readonly keptRequests?: number
}

export interface ReceivedRequest {
  /** From 1. */
  readonly number: number
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
  /** Fires when the client left before it had the answer. */
  readonly gone: AbortSignal
}

export interface ModelServer extends AsyncDisposable {
  /** The base URL, with `/v1`. */
  readonly url: string
  readonly port: number
  readonly requests: readonly ReceivedRequest[]
  /** What was refused because the real service would. */
  readonly violations: readonly string[]
  /** Connections that were ever opened. */
  readonly connections: number
  /** Settles when so many requests have come in. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

const KEPT_REQUESTS = 1_000
const KEPT_ITEMS = 100_000
const BODY_BYTES = 64 * 1024 * 1024
const DELTA_CHARACTERS = 24
const PATHS: Readonly<Record<ModelWire, string>> = { responses: '/v1/responses', chat: '/v1/chat/completions' }

export async function openModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const model = new LoopbackModel(options)
  const server = createServer((request, response) => void model.serve(request, response))
  let connections = 0
  server.on('connection', () => (connections += 1))
  server.keepAliveTimeout = 60_000
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests: model.requests,
    violations: model.violations,
    get connections() {
      return connections
    },
    arrived: (count) => model.arrived(count),
    close,
    [Symbol.asyncDispose]: close,
  }
}

class LoopbackModel {
  readonly #options: ModelServerOptions
  readonly #idPart = randomBytes(4).toString('hex')
  readonly #given = new Map<string, Given>()
  readonly #waiting = new Set<() => void>()
  #ids = 0
  #received = 0
  #played = 0
  readonly requests: ReceivedRequest[] = []
  readonly violations: string[] = []

  constructor(options: ModelServerOptions) {
    this.#options = options
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined)
    const path = PATHS[this.#options.wire]
    if (request.method !== 'POST' || request.url !== path)
      return answerStatus(response, errorReply(404, null, `Invalid URL (${request.method ?? ''} ${request.url ?? ''})`))
    const text = await readBody(request)
    if (text === undefined) return void response.destroy()
    const body = parseJson(text)
    if (!isJsonObject(body))
      return answerStatus(response, errorReply(400, null, 'We could not parse the JSON body of your request.'))
    const received = this.#receive(request, response, body)
    const refused = this.#refusal(body)
    if (refused !== undefined) {
      this.violations.push(refused.message)
      const more = refused.param === null ? {} : { param: refused.param }
      return answerStatus(response, errorReply(400, refused.code, refused.message, more))
    }
    let answer: Answer
    try {
      answer = await this.#answer(received)
    } catch (error) {
      // A test that looks at the request inside must not fail unheard.
      this.violations.push(String(error))
      return answerStatus(response, errorReply(400, 'answer_threw', String(error)))
    }
    if ('silent' in answer) return
    if ('cut' in answer) return void response.destroy()
    if ('status' in answer) return answerStatus(response, answer)
    await this.#reply(answer, body, response)
  }

  arrived(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#received < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #receive(request: IncomingMessage, response: ServerResponse, body: JsonObject): ReceivedRequest {
    const gone = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    this.#received += 1
    const received = { number: this.#received, headers: request.headers, body, gone: gone.signal }
    this.requests.push(received)
    if (this.requests.length > (this.#options.keptRequests ?? KEPT_REQUESTS)) this.requests.shift()
    for (const look of this.#waiting) look()
    return received
  }

  #refusal(body: JsonObject): Violation | undefined {
    const field = this.#options.unsupported?.find((name) => valueAt(body, name) !== undefined)
    if (field !== undefined) {
      const message = `Unsupported parameter: '${field}' is not supported with this model.`
      return { message, param: field, code: 'unsupported_parameter' }
    }
    return this.#options.wire === 'responses' ? checkResponses(body, this.#given) : checkChat(body)
  }

  #answer(request: ReceivedRequest): Answer | Promise<Answer> {
    const { answers } = this.#options
    if (typeof answers === 'function') return answers(request)
    const answer = answers[this.#played]
    this.#played += 1
    return answer ?? errorReply(400, 'no_answer', `there is no answer number ${this.#played}`)
  }

  async #reply(reply: ModelReply, body: JsonObject, response: ServerResponse): Promise<void> {
    const { wire } = this.#options
    const manner = reply.manner ?? {}
    const context = {
      body,
      id: (prefix: string) => `${prefix}_${this.#idPart}${(this.#ids += 1)}`,
      deltaCharacters: manner.deltaCharacters ?? DELTA_CHARACTERS,
    }
    const { events, whole, items } = wire === 'responses' ? responsesReply(reply, context) : chatReply(reply, context)
    this.#remember(items)
    if (manner.holdMs !== undefined) await pause(manner.holdMs)
    if (reply.whole === true) return answerStatus(response, { status: 200, body: whole, headers: reply.headers ?? {} })
    const lines = events.map((event) => {
      const data = `data: ${JSON.stringify(event)}`
      return wire === 'responses' ? `event: ${shown(event['type'])}\n${data}` : data
    })
    if (wire === 'chat' && reply.end !== 'missing') lines.push('data: [DONE]')
    await writeStream(response, { events: lines, manner, headers: reply.headers ?? {} })
  }

  #remember(items: readonly JsonObject[]): void {
    let reasoning: string | null = null
    for (const item of items) {
      const id = shown(item['id'])
      this.#given.set(id, { item, reasoning })
      reasoning = item['type'] === 'reasoning' ? id : null
    }
    if (this.#given.size > KEPT_ITEMS) this.#given.clear()
  }
}

/** `reasoning.summary` is a field of a field. */
function valueAt(body: JsonObject, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), body)
}

function answerStatus(
  response: ServerResponse,
  { status, headers = {}, body = '' }: { status: number; headers?: Readonly<Record<string, string>>; body?: JsonObject | string },
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/plain' : 'application/json'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), ...headers })
  response.end(text)
}

/** `undefined`: the client left, or sent more than anybody reads. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    let bytes = 0
    request.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes <= BODY_BYTES) parts.push(part)
    })
    request.on('end', () => resolve(bytes > BODY_BYTES ? undefined : Buffer.concat(parts).toString('utf8')))
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
  })
}
