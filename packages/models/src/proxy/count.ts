import { type JsonObject, type ModelWire, type TokenUsage, isJsonObject, parseForeign, readTokens } from '@parley/protocol'
import { SseParser } from '@parley/fetch'
import { WireError } from '@parley/rpc'
import { BYTES_PER_TOKEN } from './asked/asked.ts'

/** One event of a stream, and a whole answer, that we read; larger ones pass uncounted and are estimated. */
const EVENT_BYTES = 8 * 1024 * 1024
const ANSWER_BYTES = 32 * 1024 * 1024

/** What passed so far. */
export interface Passed {
  /** The provider's own numbers; `undefined`: it has not told any. */
  readonly tokens: TokenUsage | undefined
  /** Whether those are the last word. */
  readonly final: boolean
  /** Tokens that the model wrote, by the length of their text. */
  readonly writtenTokens: number
}

/** Reads what an answer came to out of its bytes, while they pass. */
export interface Count {
  /** Whether it is one document, that tells at its end what it came to. */
  readonly isDocument: boolean
  push(piece: Buffer): void
  /** Nothing follows. */
  end(): void
  readonly passed: Passed
}

/** Counts a `text/event-stream`. */
export class StreamCount implements Count {
  readonly isDocument = false
  readonly #wire: ModelWire
  #parser: SseParser | undefined
  #tokens: TokenUsage | undefined
  #final = false
  #writtenBytes = 0

  constructor(wire: ModelWire) {
    this.#wire = wire
    this.#parser = new SseParser(EVENT_BYTES, ({ data }) => this.#event(data))
  }

  push(piece: Buffer): void {
    // What cannot be read is still written by somebody and paid by somebody.
    if (this.#parser === undefined) this.#writtenBytes += piece.length
    try {
      this.#parser?.push(piece)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.#parser = undefined
      this.#writtenBytes += EVENT_BYTES
    }
  }

  end(): void {
    // Not everybody sends the empty line after the last event.
    this.push(EVENT_END)
    this.#final = true
  }

  get passed(): Passed {
    return {
      tokens: this.#tokens,
      final: this.#final,
      writtenTokens: Math.ceil(this.#writtenBytes / BYTES_PER_TOKEN),
    }
  }

  #event(data: string): void {
    if (this.#wire === 'chat' && data === '[DONE]') return void (this.#final = true)
    const event = parseForeign(data)
    if (!isJsonObject(event)) return
    if (this.#wire === 'responses') this.#response(event)
    else this.#chunk(event)
  }

  #response(event: JsonObject): void {
    const { type, delta, response } = event
    if (typeof delta === 'string') this.#writtenBytes += Buffer.byteLength(delta)
    if (!ENDS.has(type) && !isFailure(event)) return
    this.#final = true
    if (isJsonObject(response)) this.#tokens = readTokens(response['usage'], 'responses') ?? this.#tokens
  }

  #chunk(chunk: JsonObject): void {
    const { usage, choices } = chunk
    this.#tokens = readTokens(usage, 'chat') ?? this.#tokens
    if (isFailure(chunk)) this.#final = true
    if (!Array.isArray(choices)) return
    for (const choice of choices) if (isJsonObject(choice)) this.#writtenBytes += textBytes(choice['delta'])
  }
}
const EVENT_END = Buffer.from('\n\n')
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** An error ends a stream on both wires, with a type or without. */
const isFailure = ({ type, error }: JsonObject): boolean => type === 'error' || type === 'response.error' || isJsonObject(error)

/** The length of all text in a delta, wherever a provider puts it. */
function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + textBytes(item), 0)
  if (!isJsonObject(value)) return 0
  return Object.entries(value).reduce((sum, [name, item]) => sum + (LABELS.has(name) ? 0 : textBytes(item)), 0)
}
const LABELS: ReadonlySet<string> = new Set(['role', 'id', 'type'])

const isWritten = (body: JsonObject): boolean =>
  [body['output'], body['choices']].some((list) => Array.isArray(list) && list.length > 0)

/** Counts an answer that is one JSON document. */
export class BodyCount implements Count {
  readonly isDocument = true
  readonly #wire: ModelWire
  #pieces: Buffer[] = []
  #bytes = 0
  #tokens: TokenUsage | undefined
  #final = false

  constructor(wire: ModelWire) {
    this.#wire = wire
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes <= ANSWER_BYTES) this.#pieces.push(piece)
    else this.#pieces = []
  }

  end(): void {
    const body = this.#pieces.length === 0 ? undefined : parseForeign(Buffer.concat(this.#pieces).toString('utf8'))
    this.#pieces = []
    this.#final = true
    this.#tokens = isJsonObject(body) ? readTokens(body['usage'], this.#wire) : undefined
    // Some answer 200 and say inside that it failed.
    if (isJsonObject(body) && isJsonObject(body['error']) && !isWritten(body)) this.#bytes = 0
  }

  get passed(): Passed {
    return { tokens: this.#tokens, final: this.#final, writtenTokens: Math.ceil(this.#bytes / BYTES_PER_TOKEN) }
  }
}
