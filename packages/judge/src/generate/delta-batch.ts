import type { AgentStage } from '@parley/protocol'
import type { JobVoice } from '../tester.ts'
import type { Redactor, TextRedaction } from './redact.ts'

/** One thing that is being written: a message, a part of the reasoning, the output of a command. */
export interface DeltaStream {
  readonly key: string
  readonly kind: string
  readonly meta: Readonly<Record<string, unknown>>
}

export interface DeltaParts {
  readonly voice: JobVoice
  readonly redactor: Redactor
  readonly batchChars: number
  readonly batchMs: number
  readonly stage: () => AgentStage
}

/** Streams whose beginnings of secrets are remembered at once; the oldest is let go first. */
const STREAMS_MAX = 64

/** One line; a provider that sends an answer in one piece must not make a line that no log takes. */
const LINE_CHARS = 16_000

/** Puts pieces of what is being written together, so that a line carries more than a word, and takes secrets out of them. */
export class DeltaBatch {
  readonly #parts: DeltaParts
  readonly #streams = new Map<string, { readonly stream: DeltaStream; readonly redaction: TextRedaction }>()
  #current: DeltaStream | undefined
  #text = ''
  #timer: NodeJS.Timeout | undefined

  constructor(parts: DeltaParts) {
    this.#parts = parts
  }

  push(stream: DeltaStream, delta: string): void {
    if (this.#current !== undefined && this.#current.key !== stream.key) this.flush()
    this.#current = stream
    const { redaction } = this.#streams.get(stream.key) ?? this.#begin(stream)
    this.#text += redaction.push(delta)
    if (this.#text.length >= this.#parts.batchChars) return this.flush()
    this.#timer ??= setTimeout(() => this.flush(), this.#parts.batchMs)
  }

  /** A stream is over: what was held back of it goes out. */
  end(key: string): void {
    const found = this.#streams.get(key)
    if (found === undefined) return
    this.#streams.delete(key)
    const rest = found.redaction.end()
    if (rest === '') return
    if (this.#current !== undefined && this.#current.key !== key) this.flush()
    this.#current = found.stream
    this.#text += rest
  }

  /** What waits goes out as it is; what may be a part of a secret still waits. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const [stream, delta] = [this.#current, this.#text]
    this.#current = undefined
    this.#text = ''
    if (stream === undefined || delta === '') return
    const { kind, meta } = stream
    const say = (part: string): unknown =>
      this.#parts.voice.status({ stage: this.#parts.stage(), level: 'info', summary: '', kind, delta: part, meta })
    for (const part of partsOf(delta)) say(part)
  }

  endAll(): void {
    for (const key of [...this.#streams.keys()]) this.end(key)
    this.flush()
  }

  #begin(stream: DeltaStream) {
    const [oldest] = this.#streams.keys()
    if (this.#streams.size >= STREAMS_MAX && oldest !== undefined) this.end(oldest)
    const begun = { stream, redaction: this.#parts.redactor.stream() }
    this.#streams.set(stream.key, begun)
    return begun
  }
}

/** A text in parts that each make a line; no character is torn. */
function* partsOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = start + LINE_CHARS
    const isTorn = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
    yield text.slice(start, isTorn ? end - 1 : end)
    start = isTorn ? end - 1 : end
  }
}
