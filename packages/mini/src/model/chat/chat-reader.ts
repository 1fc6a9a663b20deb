import { type JsonObject, type TokenUsage, isJsonObject, parseForeign, readTokens } from '@parley/protocol'
import type { ModelItem } from '../model.ts'
import {
  type AnswerReader,
  FILTERED,
  type ReadAnswer,
  type ReaderOptions,
  malformed,
  tooLarge,
  tooLong,
} from '../answer-reader.ts'
import { faultOf } from '../fault.ts'
import { readErrorObject } from '../provider-error.ts'
import { CallDeltas } from './call-deltas.ts'

/** Names under which providers tell the model's thoughts; they want them back under the same. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

/** Reads an answer of Chat Completions and gives it the form of the other wire. */
export class ChatReader implements AnswerReader {
  readonly #options: ReaderOptions
  readonly #calls = new CallDeltas()
  readonly #messageId: string
  readonly #reasoningId: string
  readonly #text: string[] = []
  readonly #refusal: string[] = []
  readonly #reasoning: string[] = []
  #reasoningField: string = REASONING_FIELDS[0]
  #finish: string | undefined
  #isDone = false
  #failed: ReadAnswer | undefined
  usage: TokenUsage | undefined
  hasBegun = false
  saidBytes = 0
  skipped = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#messageId = options.id('msg')
    this.#reasoningId = options.id('rs')
  }

  event(data: string): boolean {
    if (data.trim() === '[DONE]') {
      this.#isDone = true
      return true
    }
    const chunk = parseForeign(data)
    if (isJsonObject(chunk)) this.#take(chunk)
    else this.skipped += 1
    return this.#failed !== undefined
  }

  whole(body: JsonObject): void {
    this.#take(body)
    this.#isDone = true
  }

  result(): ReadAnswer | undefined {
    if (this.#failed !== undefined) return this.#failed
    if (this.#finish === 'length') return tooLong
    if (this.#finish === 'content_filter') return { kind: 'answered', items: [], refusal: FILTERED }
    if (this.#finish === 'error') return malformed('the provider ended the answer with an error')
    if (this.#finish === undefined && !(this.#isDone && this.#isWhole())) return undefined
    const calls = this.#calls.items(this.#options.id)
    if (calls === undefined) return malformed('a call without a name')
    const refusal = this.#refusal.join('')
    return { kind: 'answered', items: this.#items(calls, refusal), refusal: refusal === '' ? null : refusal }
  }

  /** Without a reason to finish, an answer counts if it says something and holds no half of a call. */
  #isWhole(): boolean {
    const calls = this.#calls.items(() => 'call') ?? []
    const isSaid = this.#text.length + this.#refusal.length + calls.length > 0
    return isSaid && this.skipped === 0 && calls.every(hasWholeArguments)
  }

  #take(chunk: JsonObject): void {
    this.usage = readTokens(chunk['usage'], 'chat') ?? this.usage
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      const error = readErrorObject(chunk, null)
      this.#failed = { kind: 'failed', fault: faultOf(error, undefined, this.#options.limits) }
      return
    }
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJsonObject) : []
    if (choice === undefined) return
    const delta = choice['delta'] ?? choice['message']
    if (isJsonObject(delta)) this.#delta(delta)
    const finish = choice['finish_reason']
    if (typeof finish === 'string' && finish !== '') this.#finish = finish
  }

  #delta(delta: JsonObject): void {
    const { listener } = this.#options
    const field = REASONING_FIELDS.find((name) => typeof delta[name] === 'string' && delta[name] !== '')
    if (field !== undefined) {
      this.#reasoningField = field
      this.#say(this.#reasoning, delta[field], (text) => listener.reasoningDelta(this.#reasoningId, 0, text, true))
    }
    this.#say(this.#text, textOf(delta['content']), (text) => listener.messageDelta(this.#messageId, text))
    this.#say(this.#refusal, delta['refusal'], () => undefined)
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isJsonObject) : []
    for (const [position, call] of calls.entries()) {
      this.hasBegun = true
      this.saidBytes += this.#calls.add(call, position)
    }
    if (this.#calls.size > this.#options.limits.answerItems) this.#failed = tooLarge(`${this.#options.limits.answerItems} items`)
  }

  #say(parts: string[], value: unknown, tell: (text: string) => void): void {
    if (typeof value !== 'string' || value === '') return
    this.hasBegun = true
    this.saidBytes += Buffer.byteLength(value)
    parts.push(value)
    tell(value)
  }

  /** No ids: on this wire there are none, and the other must not be sent any that its provider did not make. */
  #items(calls: readonly ModelItem[], refusal: string): readonly ModelItem[] {
    const text = this.#text.join('')
    const reasoning = this.#reasoning.join('')
    const content = [
      ...(text === '' ? [] : [{ type: 'output_text', text, annotations: [] }]),
      ...(refusal === '' ? [] : [{ type: 'refusal', refusal }]),
    ]
    const thought: ModelItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: reasoning }],
      chat: { reasoning: this.#reasoningField },
    }
    const message: ModelItem = { type: 'message', role: 'assistant', status: 'completed', content }
    return [...(reasoning === '' ? [] : [thought]), ...(content.length === 0 ? [] : [message]), ...calls]
  }
}

const hasWholeArguments = ({ arguments: args }: ModelItem): boolean =>
  typeof args === 'string' && parseForeign(args) !== undefined

/** Text, or a list of parts of which the texts count. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  return content.flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : [])).join('')
}
