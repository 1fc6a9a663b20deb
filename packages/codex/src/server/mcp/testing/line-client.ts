import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@parley/protocol'

/** A client that sends and receives JSON lines as they are: what the official ones would hide is what is looked at. */
export class LineClient {
  /** Everything that came, in order. */
  readonly received: JsonObject[] = []
  /** Answers what the server asks; `undefined`: leaves it unanswered. */
  onRequest: (message: JsonObject) => JsonObject | undefined = () => undefined
  readonly #input: Writable
  readonly #watchers = new Set<() => void>()
  #rest = ''
  #ids = 0

  constructor(input: Writable, output: Readable) {
    this.#input = input
    const decoder = new StringDecoder('utf8')
    output.on('data', (chunk: Buffer) => this.#take(decoder.write(chunk)))
  }

  send(message: JsonObject): void {
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** Sends a request and does not wait: `answered` does. */
  start(method: string, params: JsonObject = {}, id: string | number = (this.#ids += 1)): string | number {
    this.send({ id, method, params })
    return id
  }

  answered(id: string | number): Promise<JsonObject> {
    return this.until(() => this.answerTo(id))
  }

  answerTo(id: string | number): JsonObject | undefined {
    return this.received.find((message) => message['id'] === id && message['method'] === undefined)
  }

  request(method: string, params: JsonObject = {}): Promise<JsonObject> {
    return this.answered(this.start(method, params))
  }

  async call(name: string, args?: JsonObject, meta?: JsonObject): Promise<JsonObject> {
    return resultOf(await this.answered(this.startCall(name, args, meta)))
  }

  startCall(name: string, args?: JsonObject, meta?: JsonObject): string | number {
    return this.start('tools/call', { name, arguments: args, _meta: meta })
  }

  notify(method: string, params: JsonObject): void {
    this.send({ method, params })
  }

  async initialize(capabilities: JsonObject = { elicitation: {} }, protocolVersion = '2025-06-18'): Promise<JsonObject> {
    const clientInfo = { name: 'line-client', version: '1.0' }
    const answer = await this.request('initialize', { protocolVersion, capabilities, clientInfo })
    this.notify('notifications/initialized', {})
    return resultOf(answer)
  }

  /** The events of one call. */
  events(id: string | number): readonly JsonObject[] {
    return this.received.flatMap(({ method, params }) => {
      if (method !== 'codex/event' || !isJsonObject(params) || !isJsonObject(params['msg'])) return []
      return isJsonObject(params['_meta']) && params['_meta']['requestId'] === id ? [params['msg']] : []
    })
  }

  types(id: string | number): readonly JsonValue[] {
    return this.events(id).map(({ type }) => type ?? null)
  }

  /** The first thing that a look at what came gives. */
  until<T>(look: () => T | undefined): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>()
    const watcher = (): void => {
      const found = look()
      if (found === undefined) return
      this.#watchers.delete(watcher)
      resolve(found)
    }
    this.#watchers.add(watcher)
    watcher()
    return promise
  }

  #take(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const message = parseJson(line)
      if (!isJsonObject(message)) throw new TypeError(`not a message: ${line}`)
      this.received.push(message)
      if (message['method'] !== undefined && message['id'] !== undefined) {
        const answer = this.onRequest(message)
        if (answer !== undefined) this.send({ id: message['id'], ...answer })
      }
    }
    for (const watcher of this.#watchers) watcher()
  }
}

function resultOf(message: JsonObject): JsonObject {
  const { result } = message
  if (!isJsonObject(result)) throw new TypeError(`no result: ${JSON.stringify(message)}`)
  return result
}
