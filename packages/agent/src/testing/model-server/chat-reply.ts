import type { JsonObject } from '@parley/protocol'
import type { ModelReply, Piece, ReplyEnd, ReplyUsage } from './answer.ts'
import { countedUsage, deltasOf } from './reply-tokens.ts'
import type { Rendered, ReplyContext } from './responses-reply.ts'

/** An answer in the words of Chat Completions. `[DONE]` is put behind the chunks by the server, unless the end is missing. */
export function chatReply(reply: ModelReply, context: ReplyContext): Rendered {
  const id = context.id('chatcmpl')
  const model = context.body['model'] ?? null
  const end = reply.end ?? 'completed'
  const asksUsage = isObject(context.body['stream_options']) && context.body['stream_options']['include_usage'] === true
  const counted = reply.usage === null ? null : usageOf(reply.usage ?? countedUsage(context.body, reply.pieces))
  const chunk = (delta: JsonObject, finish: string | null): JsonObject => ({
    id,
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(asksUsage ? { usage: null } : {}),
  })
  const calls = callsOf(reply.pieces, context)
  const finish = finishOf(end, calls.length > 0)
  const events: JsonObject[] = [chunk({ role: 'assistant', content: '', refusal: null }, null)]
  for (const delta of deltasFor(reply.pieces, calls, context.deltaCharacters)) events.push(chunk(delta, null))
  if (finish !== undefined) events.push(chunk({}, finish))
  if (typeof end === 'object') events.push({ error: 'failed' in end ? { ...end.failed } : { ...end.error } })
  else if (asksUsage && counted !== null && end !== 'missing')
    events.push({ id, object: 'chat.completion.chunk', model, choices: [], usage: counted })
  const choice = { index: 0, message: messageOf(reply.pieces, calls), finish_reason: finish ?? 'stop' }
  const whole = { id, object: 'chat.completion', model, choices: [choice], ...(counted === null ? {} : { usage: counted }) }
  return {
    events,
    whole: typeof end === 'object' ? { error: 'failed' in end ? { ...end.failed } : { ...end.error } } : whole,
    items: [],
  }
}

function finishOf(end: ReplyEnd, hasCalls: boolean): string | undefined {
  if (end === 'max_output_tokens') return 'length'
  if (end === 'content_filter') return 'content_filter'
  if (end !== 'completed') return undefined
  return hasCalls ? 'tool_calls' : 'stop'
}

function usageOf({ input, output, cached = 0, reasoning = 0 }: ReplyUsage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

interface ChatCall extends JsonObject {
  readonly id: string
  readonly type: 'function'
  readonly function: { name: string; arguments: string }
}

function callsOf(pieces: readonly Piece[], { id }: ReplyContext): readonly ChatCall[] {
  return pieces.flatMap((piece): ChatCall[] => {
    if (!('call' in piece)) return []
    const args = typeof piece.arguments === 'string' ? piece.arguments : JSON.stringify(piece.arguments)
    const called = { name: piece.call, arguments: args }
    return [{ ...piece.extra, id: piece.id ?? id('call'), type: 'function', function: called }]
  })
}

function* deltasFor(pieces: readonly Piece[], calls: readonly ChatCall[], characters: number): Generator<JsonObject> {
  for (const piece of pieces) {
    if ('text' in piece) for (const content of deltasOf(piece.text, characters)) yield { content }
    else if ('refusal' in piece) for (const refusal of deltasOf(piece.refusal, characters)) yield { refusal }
    else if ('reasoning' in piece)
      for (const reasoning_content of deltasOf(piece.reasoning, characters)) yield { reasoning_content }
  }
  for (const [index, { function: called, ...call }] of calls.entries()) {
    yield { tool_calls: [{ index, ...call, function: { name: called.name, arguments: '' } }] }
    for (const args of deltasOf(called.arguments, characters)) yield { tool_calls: [{ index, function: { arguments: args } }] }
  }
}

function messageOf(pieces: readonly Piece[], calls: readonly ChatCall[]): JsonObject {
  const joined = (read: (piece: Piece) => string | undefined): string | null => {
    const parts = pieces.flatMap((piece) => read(piece) ?? [])
    return parts.length === 0 ? null : parts.join('')
  }
  const reasoning = joined((piece) => ('reasoning' in piece ? piece.reasoning : undefined))
  return {
    role: 'assistant',
    content: joined((piece) => ('text' in piece ? piece.text : undefined)),
    refusal: joined((piece) => ('refusal' in piece ? piece.refusal : undefined)),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: [...calls] }),
  }
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
