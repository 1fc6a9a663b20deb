import type { JsonObject } from '@parley/protocol'
import type { ModelReply, Piece, ReplyEnd, ReplyUsage } from './answer.ts'
import { shown } from './violation.ts'
import { countedUsage, deltasOf } from './reply-tokens.ts'

export interface ReplyContext {
  readonly body: JsonObject
  /** Makes an id that no other answer of this server has. */
  readonly id: (prefix: string) => string
  readonly deltaCharacters: number
}

/** An answer in the words of the Responses API: the events of its stream, and the items that the model must see again. */
export interface Rendered {
  readonly events: readonly JsonObject[]
  /** The body of an answer that is no stream. */
  readonly whole: JsonObject
  readonly items: readonly JsonObject[]
}

export function responsesReply(reply: ModelReply, context: ReplyContext): Rendered {
  const id = context.id('resp')
  const response = (status: string, more: JsonObject): JsonObject => ({
    id,
    object: 'response',
    status,
    model: context.body['model'] ?? null,
    ...more,
  })
  const start = response('in_progress', { output: [], usage: null, error: null, incomplete_details: null })
  const events: JsonObject[] = [
    { type: 'response.created', response: start },
    { type: 'response.in_progress', response: start },
  ]
  const items = reply.pieces.map((piece) => itemOf(piece, context))
  for (const [index, item] of items.entries()) events.push(...itemEvents(item, index, context.deltaCharacters))
  const usage = reply.usage === null ? null : usageOf(reply.usage ?? countedUsage(context.body, reply.pieces))
  const { event, whole } = endOf(reply.end ?? 'completed', (status, more) => response(status, { output: items, usage, ...more }))
  if (event !== undefined) events.push(event)
  return { events: events.map((one, index) => ({ ...one, sequence_number: index })), whole, items }
}

type MakeResponse = (status: string, more: JsonObject) => JsonObject

function endOf(end: ReplyEnd, response: MakeResponse): { readonly event?: JsonObject; readonly whole: JsonObject } {
  const whole = response('completed', { error: null, incomplete_details: null })
  if (end === 'missing') return { whole }
  if (end === 'completed') return { event: { type: 'response.completed', response: whole }, whole }
  if (typeof end === 'string') {
    const cut = response('incomplete', { error: null, incomplete_details: { reason: end } })
    return { event: { type: 'response.incomplete', response: cut }, whole: cut }
  }
  if ('error' in end) return { event: { type: 'error', ...end.error, param: null }, whole: { error: { ...end.error } } }
  const failed = response('failed', { output: [], usage: null, error: { ...end.failed }, incomplete_details: null })
  return { event: { type: 'response.failed', response: failed }, whole: failed }
}

function usageOf({ input, output, cached = 0, reasoning = 0 }: ReplyUsage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

function itemOf(piece: Piece, { id }: ReplyContext): JsonObject {
  if ('text' in piece) {
    const content = [{ type: 'output_text', text: piece.text, annotations: [], logprobs: [] }]
    return { id: id('msg'), type: 'message', status: 'completed', role: 'assistant', content }
  }
  if ('refusal' in piece) {
    const content = [{ type: 'refusal', refusal: piece.refusal }]
    return { id: id('msg'), type: 'message', status: 'completed', role: 'assistant', content }
  }
  if ('call' in piece) {
    const args = typeof piece.arguments === 'string' ? piece.arguments : JSON.stringify(piece.arguments)
    const call_id = piece.id ?? id('call')
    const called = { id: id('fc'), type: 'function_call', status: 'completed', call_id, name: piece.call, arguments: args }
    return { ...piece.extra, ...called }
  }
  if ('custom' in piece) {
    const call_id = piece.id ?? id('call')
    return { id: id('ctc'), type: 'custom_tool_call', status: 'completed', call_id, name: piece.custom, input: piece.input }
  }
  const said =
    piece.raw === true
      ? { summary: [], content: [{ type: 'reasoning_text', text: piece.reasoning }] }
      : { summary: [{ type: 'summary_text', text: piece.reasoning }] }
  return { id: id('rs'), type: 'reasoning', ...said, encrypted_content: piece.encrypted ?? null }
}

function* itemEvents(item: JsonObject, output_index: number, characters: number): Generator<JsonObject> {
  const at = { item_id: item['id'], output_index }
  yield { type: 'response.output_item.added', output_index, item: emptied(item) }
  if (item['type'] === 'function_call') {
    const args = shown(item['arguments'])
    for (const delta of deltasOf(args, characters)) yield { type: 'response.function_call_arguments.delta', ...at, delta }
    yield { type: 'response.function_call_arguments.done', ...at, arguments: args }
  } else if (item['type'] === 'custom_tool_call') {
    const input = shown(item['input'])
    for (const delta of deltasOf(input, characters)) yield { type: 'response.custom_tool_call_input.delta', ...at, delta }
    yield { type: 'response.custom_tool_call_input.done', ...at, input }
  } else if (item['type'] === 'message') yield* messageEvents(item, at, characters)
  else yield* reasoningEvents(item, at, characters)
  yield { type: 'response.output_item.done', output_index, item }
}

/** The item as it stands before anything is said. */
function emptied(item: JsonObject): JsonObject {
  if (item['type'] === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  if (item['type'] === 'custom_tool_call') return { ...item, status: 'in_progress', input: '' }
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] }
  return { ...item, summary: [], encrypted_content: '' }
}

function* messageEvents(item: JsonObject, at: JsonObject, characters: number): Generator<JsonObject> {
  const part = partOf(item['content'])
  const kind = part['type'] === 'refusal' ? 'refusal' : 'output_text'
  const field = kind === 'refusal' ? 'refusal' : 'text'
  const text = shown(part[field])
  const where = { ...at, content_index: 0 }
  yield { type: 'response.content_part.added', ...where, part: { ...part, [field]: '' } }
  for (const delta of deltasOf(text, characters)) yield { type: `response.${kind}.delta`, ...where, delta }
  yield { type: `response.${kind}.done`, ...where, [field]: text }
  yield { type: 'response.content_part.done', ...where, part }
}

function* reasoningEvents(item: JsonObject, at: JsonObject, characters: number): Generator<JsonObject> {
  if (Array.isArray(item['content'])) {
    const text = shown(partOf(item['content'])['text'])
    const where = { ...at, content_index: 0 }
    for (const delta of deltasOf(text, characters)) yield { type: 'response.reasoning_text.delta', ...where, delta }
    yield { type: 'response.reasoning_text.done', ...where, text }
    return
  }
  const part = partOf(item['summary'])
  const where = { ...at, summary_index: 0 }
  yield { type: 'response.reasoning_summary_part.added', ...where, part: { ...part, text: '' } }
  const text = shown(part['text'])
  for (const delta of deltasOf(text, characters)) yield { type: 'response.reasoning_summary_text.delta', ...where, delta }
  yield { type: 'response.reasoning_summary_text.done', ...where, text }
  yield { type: 'response.reasoning_summary_part.done', ...where, part }
}

function partOf(parts: unknown): JsonObject {
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined
  return typeof first === 'object' && first !== null ? Object.fromEntries(Object.entries(first)) : {}
}
