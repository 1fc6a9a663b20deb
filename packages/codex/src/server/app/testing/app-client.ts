import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import type { Backend } from '../../../backend/backend.ts'
import type { AppDialect } from '../app-server-options.ts'
import type { Method } from '../method/method.ts'
import { serveApp } from '../serve-app.ts'

/** Longer than anything takes that a test waits for. */
const PATIENCE_MS = 60_000
/** What has not come while it answered so many others is not on its way. */
const OTHERS = 40

export interface AppClientOptions {
  readonly dialect?: AppDialect
  readonly backend: () => Promise<Backend>
  readonly folder: string
  readonly methods?: Readonly<Record<string, Method>>
  /** Left out: it has initialized, where the dialect wants that. */
  readonly isRaw?: boolean
}

/** A client of `serveApp` that keeps every line it got. */
export class AppClient {
  readonly received: JsonObject[] = []
  readonly notes: string[] = []
  readonly ended: Promise<void>
  readonly #input = new PassThrough()
  readonly output = new PassThrough()
  readonly #dialect: AppDialect
  #arrived = Promise.withResolvers<void>()
  #lastId = 0

  private constructor({ dialect = '0.44', backend, folder, methods }: AppClientOptions) {
    this.#dialect = dialect
    let rest = ''
    this.output.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
    })
    const agent = { platform: 'Debian 12.0.0; x86_64', terminal: 'xterm', product: 'parley/0.1.0' }
    const note = (line: string): void => void this.notes.push(line)
    const options = { input: this.#input, output: this.output, dialect, backend, agent, folder, note, newId: randomUUID }
    this.ended = methods === undefined ? serveApp(options) : serveApp(options, methods)
  }

  static async open(options: AppClientOptions): Promise<AppClient> {
    const client = new AppClient(options)
    if (options.isRaw === true || client.#dialect === '0.42') return client
    await client.ask('initialize', { clientInfo: { name: 'probe', title: 'Probe', version: '1.0' } })
    client.send({ method: 'initialized' })
    return client
  }

  /** The whole answer. */
  async ask(method: string, params?: JsonValue): Promise<JsonObject> {
    return this.answerTo(this.post(method, params))
  }

  /** The result; an error is thrown with what the server said. */
  async call(method: string, params?: JsonValue): Promise<JsonObject> {
    const { result, error } = await this.ask(method, params)
    if (!isJsonObject(result)) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  /** One text out of the result. */
  async textOf(name: string, method: string, params?: JsonValue): Promise<string> {
    const value = (await this.call(method, params))[name]
    if (typeof value !== 'string') throw new Error(`${method}: ${name} is no text`)
    return value
  }

  /** Sends a request and goes on; gives its id. */
  post(method: string, params?: JsonValue): number {
    this.#lastId += 1
    this.send({ id: this.#lastId, method, ...(params === undefined ? {} : { params }) })
    return this.#lastId
  }

  answerTo(id: number | string): Promise<JsonObject> {
    return this.until((message) => message['id'] === id && message['method'] === undefined)
  }

  send(message: JsonObject): void {
    this.sendText(JSON.stringify(this.#dialect === '0.42' ? { jsonrpc: '2.0', ...message } : message))
  }

  sendText(line: string): void {
    this.#input.write(`${line}\n`)
  }

  /** The first message that fits, also one that came before. */
  async until(fits: (message: JsonObject) => boolean, from = 0): Promise<JsonObject> {
    const late = AbortSignal.timeout(PATIENCE_MS)
    for (;;) {
      const found = this.received.slice(from).find(fits)
      if (found !== undefined) return found
      await Promise.race([this.#arrived.promise, once(late, 'abort')])
      if (late.aborted) throw new Error(`nothing fits among ${this.received.map((line) => JSON.stringify(line)).join('\n')}`)
    }
  }

  /** The `msg` of the first event of a type that came after `from` messages. */
  async event(type: string, from = 0): Promise<JsonObject> {
    const { params } = await this.until(({ method }) => method === `codex/event/${type}`, from)
    return isJsonObject(params) && isJsonObject(params['msg']) ? params['msg'] : {}
  }

  /** What came since, in short: `event type`, `method`, or `answer`. */
  story(from = 0): string[] {
    return this.received
      .slice(from)
      .map(({ method }) => (typeof method === 'string' ? method.replace('codex/event/', '') : 'answer'))
  }

  /** Answers many others first, so that what is not expected could show itself. Their answers are not kept. */
  async quiet(): Promise<void> {
    for (let asked = 0; asked < OTHERS; asked += 1) {
      const answer = await this.ask('getUserAgent')
      this.received.splice(this.received.indexOf(answer), 1)
    }
  }

  /** The end of the input. */
  end(): Promise<void> {
    this.#input.end()
    return this.ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }

  #take(line: string): void {
    const message = parseJson(line)
    if (!isJsonObject(message)) throw new Error(`not a message: ${line}`)
    this.received.push(message)
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers<void>()
  }
}

export const text = (words: string): JsonObject[] => [{ type: 'text', data: { text: words } }]
