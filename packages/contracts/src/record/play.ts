import type { Readable, Writable } from 'node:stream'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import { LineReader } from '@parley/rpc'
import type { RecordedLine } from '../registry/registry-types.ts'
import type { Scenario, Step } from './scenario.ts'

const LINE_BYTES = 16 * 1024 * 1024
/** A scenario that makes more lines than this has run away. */
const LINES_MAX = 20_000
const STEP_MS = 20_000

/** A step came to no end. */
export class ScenarioStuck extends Error {
  readonly code = 'scenario_stuck'
  readonly step: Step
  /** What went either way until then. */
  readonly lines: readonly RecordedLine[]
  constructor(message: string, step: Step, lines: readonly RecordedLine[]) {
    super(message)
    this.name = 'ScenarioStuck'
    this.step = step
    this.lines = lines
  }
}

/** Where a scenario is played: the streams of a server, and the folders that stand for `$WORK` and `$HOME`. */
export interface Stage {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Whether what is sent carries `"jsonrpc": "2.0"`. */
  readonly jsonrpc: boolean
  /** Whether requests that cannot be read are answered. */
  readonly answersBad: boolean
  readonly work: string
  readonly home: string
  readonly stepMs?: number
}

/** Plays the client's part, and gives every line that went either way, as it was. Throws `ScenarioStuck`. */
export async function playScenario({ steps, name }: Pick<Scenario, 'steps' | 'name'>, stage: Stage): Promise<RecordedLine[]> {
  const client = new Client(stage)
  for (const [index, step] of steps.entries()) {
    try {
      await client.take(step)
    } catch (error) {
      const message = `${name}, step ${index + 1} ${JSON.stringify(step)}: ${String(error)}\n${client.tail()}`
      throw new ScenarioStuck(message, step, client.lines)
    }
  }
  return client.lines
}

class Client {
  readonly lines: RecordedLine[] = []
  readonly #stage: Stage
  readonly #saved = new Map<string, JsonValue>()
  readonly #asked = new Map<string, number>()
  readonly #used = new Set<RecordedLine>()
  readonly #looking = new Set<() => void>()
  #lastId = 0
  #ended = false

  constructor(stage: Stage) {
    this.#stage = stage
    const reader = new LineReader(LINE_BYTES, {
      line: (text) => this.#received(parseJson(text)),
      fault: () => undefined,
    })
    stage.stdout.on('data', (chunk: Buffer) => reader.push(chunk))
    for (const event of ['end', 'close', 'error'] as const)
      stage.stdout.on(event, () => {
        this.#ended = true
        this.#look()
      })
    stage.stdin.on('error', () => undefined)
  }

  tail(): string {
    const shown = this.lines.slice(-6).map((line) => JSON.stringify(line).slice(0, 400))
    return shown.join('\n')
  }

  async take(step: Step): Promise<void> {
    if ('ask' in step) await this.#answered(this.#request(step.ask, step.params, step.as), step.as)
    else if ('begin' in step) this.#request(step.begin, step.params, step.as)
    else if ('finish' in step) await this.#answered(this.#asked.get(step.finish) ?? 0, step.finish)
    else if ('bad' in step) {
      const id = this.#request(step.bad, step.params)
      if (this.#stage.answersBad) await this.#answered(id, undefined)
    } else if ('unanswered' in step) this.#request(step.unanswered, step.params)
    else if ('tell' in step) this.#send(step.params === undefined ? { method: step.tell } : this.#message(step.tell, step.params))
    else if ('until' in step) await this.#noticed(step)
    else if ('ignore' in step) await this.#serverRequest(step.ignore)
    else {
      const id = await this.#serverRequest(step.reply)
      this.#send(step.error === undefined ? { id, result: this.#filled(step.result ?? {}) } : { id, error: step.error })
    }
  }

  #message(method: string, params: JsonValue | undefined): JsonObject {
    return params === undefined ? { method } : { method, params: this.#filled(params) }
  }

  #request(method: string, params: JsonValue | undefined, label?: string): number {
    this.#lastId += 1
    const id = this.#lastId
    if (label !== undefined) this.#asked.set(label, id)
    const { method: name, ...more } = this.#message(method, params)
    this.#send({ id, method: name ?? method, ...more })
    return id
  }

  async #answered(id: number, label: string | undefined): Promise<void> {
    const answer = await this.#found((message) => message['id'] === id && message['method'] === undefined)
    if (label !== undefined && answer['result'] !== undefined) this.#saved.set(label, answer['result'])
  }

  async #serverRequest(method: string): Promise<JsonValue> {
    const { id } = await this.#found((message) => message['method'] === method && message['id'] !== undefined)
    return id ?? null
  }

  async #noticed({ until, event, text, as }: Extract<Step, { until: string }>): Promise<void> {
    const { params } = await this.#found(({ method, id, params: given }) => {
      if (method !== until || id !== undefined) return false
      const msg = isJsonObject(given) && isJsonObject(given['msg']) ? given['msg'] : {}
      if (event !== undefined && msg['type'] !== event) return false
      const { delta } = msg
      return text === undefined || (typeof delta === 'string' && delta.startsWith(text))
    })
    if (as !== undefined && params !== undefined) this.#saved.set(as, params)
  }

  #found(fits: (message: JsonObject) => boolean): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const stepMs = this.#stage.stepMs ?? STEP_MS
      const late = setTimeout(() => finish(() => reject(new Error(`nothing came within ${stepMs} ms`))), stepMs)
      const finish = (settle: () => void): void => {
        clearTimeout(late)
        this.#looking.delete(look)
        settle()
      }
      const look = (): void => {
        for (const line of this.lines) {
          const { message } = line
          if (line.dir !== '<' || this.#used.has(line) || !isJsonObject(message) || !fits(message)) continue
          this.#used.add(line)
          return finish(() => resolve(message))
        }
        if (this.#ended) finish(() => reject(new Error('the server ended')))
      }
      this.#looking.add(look)
      look()
    })
  }

  #received(message: JsonValue | undefined): void {
    if (message === undefined || this.lines.length >= LINES_MAX) return
    this.lines.push({ dir: '<', message })
    this.#look()
  }

  #look(): void {
    for (const look of [...this.#looking]) look()
  }

  #send(message: JsonObject): void {
    const sent = this.#stage.jsonrpc ? { jsonrpc: '2.0', ...message } : message
    this.lines.push({ dir: '>', message: sent })
    this.#stage.stdin.write(`${JSON.stringify(sent)}\n`)
  }

  #filled(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#resolved(value)
    if (Array.isArray(value)) return value.map((item) => this.#filled(item))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#filled(item ?? null)]))
  }

  #resolved(text: string): JsonValue {
    if (text.startsWith('$WORK')) return this.#stage.work + text.slice('$WORK'.length)
    if (text.startsWith('$HOME')) return this.#stage.home + text.slice('$HOME'.length)
    const [label, ...path] = text.startsWith('$') ? text.slice(1).split('.') : []
    if (label === undefined || path.length === 0) return text
    const saved = this.#saved.get(label)
    if (saved === undefined) throw new Error(`nothing was answered to ${label}`)
    const found = path.reduce<JsonValue | undefined>((at, key) => {
      if (Array.isArray(at)) return at[Number(key)]
      return isJsonObject(at) ? at[key] : undefined
    }, saved)
    if (found === undefined) throw new Error(`${text} is not in the answer`)
    return found
  }
}
