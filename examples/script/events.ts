import type { JsonObject } from '@parley/protocol'
import type { Called, Said, Tokens } from './conversation.ts'

/** Characters that come at once: text is read as it comes, code is long. */
const TEXT_CHARS = 24
const CODE_CHARS = 160
const CREATED_AT = 1_793_491_200

/** The items of an answer with the events that bring each of them. */
interface Brought {
  readonly item: JsonObject
  readonly events: readonly JsonObject[]
}

/** One answer as the Responses API streams it. */
export function eventsOf(said: Said, { model, id }: { readonly model: string; readonly id: string }): JsonObject[] {
  const brought = [
    (at: number) => reasoning(said.thinks, `rs_${id}`, at),
    ...(said.says === undefined ? [] : [(at: number) => message(said.says ?? '', `msg_${id}`, at)]),
    ...(said.calls ?? []).map((call, index) => (at: number) => functionCall(call, `${id}_${index + 1}`, at)),
  ].map((bring, at) => bring(at))
  const response = { id: `resp_${id}`, object: 'response', created_at: CREATED_AT, model, store: false }
  const output = brought.map(({ item }) => item)
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.in_progress', response: { ...response, status: 'in_progress', output: [] } },
    ...brought.flatMap(({ events }) => events),
    { type: 'response.completed', response: { ...response, status: 'completed', output, usage: usageOf(said.tokens) } },
  ].map((event, number) => ({ ...event, sequence_number: number }))
}

function reasoning(parts: readonly string[], id: string, at: number): Brought {
  const where = { item_id: id, output_index: at }
  const summary = parts.map((text) => ({ type: 'summary_text', text }))
  // Whoever carries it on hands it back as it is; there is nothing to decrypt.
  const empty = { id, type: 'reasoning', encrypted_content: Buffer.from(id).toString('base64') }
  const events = summary.flatMap(({ type, text }, index) => {
    const part = { ...where, summary_index: index }
    return [
      { type: 'response.reasoning_summary_part.added', ...part, part: { type, text: '' } },
      ...pieces(text, TEXT_CHARS).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...part, delta })),
      { type: 'response.reasoning_summary_text.done', ...part, text },
      { type: 'response.reasoning_summary_part.done', ...part, part: { type, text } },
    ]
  })
  return around({ ...empty, summary: [] }, { ...empty, summary }, at, events)
}

function message(says: string | JsonObject, id: string, at: number): Brought {
  const where = { item_id: id, output_index: at, content_index: 0 }
  const text = typeof says === 'string' ? says : JSON.stringify(says)
  const part = { type: 'output_text', annotations: [] }
  const empty = { id, type: 'message', role: 'assistant' }
  const size = typeof says === 'string' ? TEXT_CHARS : CODE_CHARS
  return around(
    { ...empty, status: 'in_progress', content: [] },
    { ...empty, status: 'completed', content: [{ ...part, text }] },
    at,
    [
      { type: 'response.content_part.added', ...where, part: { ...part, text: '' } },
      ...pieces(text, size).map((delta) => ({ type: 'response.output_text.delta', ...where, delta })),
      { type: 'response.output_text.done', ...where, text },
      { type: 'response.content_part.done', ...where, part: { ...part, text } },
    ],
  )
}

function functionCall(call: Called, id: string, at: number): Brought {
  const where = { item_id: `fc_${id}`, output_index: at }
  const text = JSON.stringify(call.arguments)
  const empty = { id: `fc_${id}`, type: 'function_call', call_id: `call_${id}`, name: call.name }
  return around({ ...empty, status: 'in_progress', arguments: '' }, { ...empty, status: 'completed', arguments: text }, at, [
    ...pieces(text, CODE_CHARS).map((delta) => ({ type: 'response.function_call_arguments.delta', ...where, delta })),
    { type: 'response.function_call_arguments.done', ...where, arguments: text },
  ])
}

function around(added: JsonObject, item: JsonObject, at: number, events: readonly JsonObject[]): Brought {
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index: at, item: added },
      ...events,
      { type: 'response.output_item.done', output_index: at, item },
    ],
  }
}

const usageOf = ({ input, cached, output, reasoning: thought }: Tokens): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: thought },
  total_tokens: input + output,
})

/** Never empty, and never between the halves of one character. */
function pieces(text: string, size: number): string[] {
  const characters = Array.from(text)
  const found: string[] = []
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''))
  return found
}
