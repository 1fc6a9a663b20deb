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
import { readItem, refusalOf, textOf } from './output-item.ts'

/** Events before the model has said anything. */
const LIFECYCLE = new Set(['response.created', 'response.in_progress', 'response.queued', 'keepalive'])

/** Reads an answer of the Responses API. What an item is, its `done` event says; deltas are only for those who watch. */
export class ResponsesReader implements AnswerReader {
  readonly #options: ReaderOptions
  readonly #items = new Map<number, ModelItem>()
  readonly #announced = new Set<number>()
  #result: ReadAnswer | undefined
  usage: TokenUsage | undefined
  hasBegun = false
  saidBytes = 0
  skipped = 0

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  event(data: string): boolean {
    // Not of this wire, but some end every stream with it.
    if (data === '[DONE]') return false
    const event = parseForeign(data)
    if (!isJsonObject(event)) {
      this.skipped += 1
      return false
    }
    this.#take(event)
    return this.#result !== undefined
  }

  whole(body: JsonObject): void {
    this.hasBegun = true
    if (body['output'] === undefined && body['error'] !== undefined) return this.#fail(body)
    if (!Array.isArray(body['output'])) {
      this.#result = malformed('the answer has no output')
      return
    }
    for (const [index, value] of body['output'].entries()) {
      const item = readItem(value, this.#options.id)
      if (item !== undefined) this.#tellWhole(item, index)
    }
    const status = body['status']
    if (status === 'failed' || status === 'incomplete') this.#finish(status, body)
    else if (status === undefined || status === 'completed') this.#finish('completed', body)
    else this.#result = malformed(`the provider answered with a response that is ${JSON.stringify(status)}`)
  }

  result(): ReadAnswer | undefined {
    return this.#result
  }

  #take(event: JsonObject): void {
    const type = event['type']
    if (typeof type !== 'string') return this.#takeUntyped(event)
    if (!LIFECYCLE.has(type)) this.hasBegun = true
    switch (type) {
      case 'response.output_text.delta':
        return this.#delta(event, (item, delta) => this.#options.listener.messageDelta(item, delta))
      case 'response.reasoning_summary_text.delta':
        return this.#reasoning(event, 'summary_index', false)
      case 'response.reasoning_text.delta':
        return this.#reasoning(event, 'content_index', true)
      case 'response.refusal.delta':
      case 'response.function_call_arguments.delta':
        return this.#delta(event, () => undefined)
      case 'response.reasoning_summary_part.added':
        return this.#options.listener.reasoningPart(itemId(event), indexOf(event, 'summary_index'))
      case 'response.output_item.added':
        return this.#announce(event)
      case 'response.output_item.done':
        return this.#done(event)
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#finish(type.slice('response.'.length), isJsonObject(event['response']) ? event['response'] : {})
      case 'error':
      case 'response.error':
        return this.#fail(event)
      default:
    }
  }

  /** Some send an error as it is, without a type. */
  #takeUntyped(event: JsonObject): void {
    if (event['error'] !== undefined) this.#fail(event)
    else this.skipped += 1
  }

  #delta(event: JsonObject, tell: (item: string, delta: string) => void): void {
    const delta = event['delta']
    if (typeof delta !== 'string' || delta === '') return
    this.saidBytes += Buffer.byteLength(delta)
    tell(itemId(event), delta)
  }

  #reasoning(event: JsonObject, index: string, raw: boolean): void {
    this.#delta(event, (item, delta) => this.#options.listener.reasoningDelta(item, indexOf(event, index), delta, raw))
  }

  #announce(event: JsonObject): void {
    this.#announced.add(indexOf(event, 'output_index'))
    if (this.#announced.size > this.#options.limits.answerItems)
      this.#result = tooLarge(`${this.#options.limits.answerItems} items`)
  }

  #done(event: JsonObject): void {
    const item = readItem(event['item'], this.#options.id)
    if (item === undefined) this.skipped += 1
    else this.#items.set(typeof event['output_index'] === 'number' ? event['output_index'] : this.#items.size, item)
    if (this.#items.size > this.#options.limits.answerItems) this.#result = tooLarge(`${this.#options.limits.answerItems} items`)
  }

  #tellWhole(item: ModelItem, index: number): void {
    const text = textOf(item)
    this.saidBytes += Buffer.byteLength(JSON.stringify(item))
    if (item.type === 'message' && text !== '')
      this.#options.listener.messageDelta(itemId({ item_id: item['id'], output_index: index }), text)
  }

  #finish(status: string, response: JsonObject): void {
    this.usage = readTokens(response['usage'], 'responses') ?? this.usage
    if (status === 'failed') return this.#fail(response)
    if (status === 'incomplete') {
      const details = response['incomplete_details']
      const reason = isJsonObject(details) ? details['reason'] : undefined
      this.#result = reason === 'content_filter' ? { kind: 'answered', items: [], refusal: FILTERED } : tooLong
      return
    }
    const items = this.#allItems(response)
    this.#result =
      items === undefined
        ? malformed('parts of the answer could not be read')
        : { kind: 'answered', items, refusal: refusalOf(items) }
  }

  /** The items in their order. What an unreadable event lost may stand in the last one; `undefined`: it does not. */
  #allItems(response: JsonObject): readonly ModelItem[] | undefined {
    const items = [...this.#items].toSorted(([one], [other]) => one - other).map(([, item]) => item)
    const repeated = Array.isArray(response['output']) ? response['output'] : []
    if (repeated.length > items.length) {
      const read = repeated.flatMap((value) => readItem(value, this.#options.id) ?? [])
      return read.length === repeated.length ? read : undefined
    }
    return items.length < this.#announced.size ? undefined : items
  }

  #fail(body: JsonObject): void {
    const error = readErrorObject(body, null)
    this.#result = { kind: 'failed', fault: faultOf(error, undefined, this.#options.limits) }
  }
}

function itemId(event: JsonObject): string {
  const id = event['item_id']
  return typeof id === 'string' && id !== '' ? id : `item_${indexOf(event, 'output_index')}`
}

function indexOf(event: JsonObject, field: string): number {
  const index = event[field]
  return typeof index === 'number' ? index : 0
}
