import { type JsonObject, type JsonValue, type ModelWire, isJsonObject } from '@parley/protocol'
import { type Check, type Fields, echoed, fieldsOf, listOf, objectOf, picture, plain, shaped, typed } from './shape.ts'
import type { Pictures } from './pictures.ts'
import { wrongField } from '../refusal.ts'

/** Pieces of what was said, by their type, and the fields of each that go on. */
const PARTS: Record<ModelWire, ReadonlyMap<string, Fields>> = {
  responses: new Map([
    ['input_text', fieldsOf({ type: plain, text: plain })],
    // What it refers to is no input; the list itself must be there.
    ['output_text', fieldsOf({ type: plain, text: plain, annotations: () => [] })],
    ['text', fieldsOf({ type: plain, text: plain })],
    ['refusal', fieldsOf({ type: plain, refusal: plain })],
    ['summary_text', fieldsOf({ type: plain, text: plain })],
    ['reasoning_text', fieldsOf({ type: plain, text: plain })],
    ['encrypted_content', fieldsOf({ type: plain, encrypted_content: plain })],
    ['input_image', fieldsOf({ type: plain, image_url: picture, detail: plain })],
  ]),
  chat: new Map([
    ['text', fieldsOf({ type: plain, text: plain })],
    ['refusal', fieldsOf({ type: plain, refusal: plain })],
    ['image_url', fieldsOf({ type: plain, image_url: picture })],
  ]),
}

const partsOf = (wire: ModelWire): Check => listOf((part, at, pictures) => typed(part, at, PARTS[wire], pictures))
/** Text, or a list of parts. */
const contentOf = (wire: ModelWire): Check => {
  const parts = partsOf(wire)
  return (value, at, pictures) => (typeof value === 'string' ? value : parts(value, at, pictures))
}

const call = { type: plain, id: plain, call_id: plain, status: plain }
const sealed = fieldsOf({ type: plain, id: plain, encrypted_content: plain })
const message = fieldsOf({ type: plain, id: plain, role: plain, status: plain, phase: plain, content: contentOf('responses') })
/** Items of a Responses conversation. What hosted tools leave is not among them: they are not served. */
const ITEMS: ReadonlyMap<string, Fields> = new Map([
  ['message', message],
  [
    'reasoning',
    fieldsOf({
      type: plain,
      id: plain,
      status: plain,
      summary: partsOf('responses'),
      content: partsOf('responses'),
      encrypted_content: plain,
    }),
  ],
  ['function_call', fieldsOf({ ...call, name: plain, namespace: plain, arguments: plain })],
  ['function_call_output', fieldsOf({ ...call, output: contentOf('responses') })],
  ['custom_tool_call', fieldsOf({ ...call, name: plain, namespace: plain, input: plain })],
  ['custom_tool_call_output', fieldsOf({ ...call, name: plain, output: contentOf('responses') })],
  ['compaction', sealed],
  ['compaction_summary', sealed],
])

const called = objectOf(fieldsOf({ name: plain, arguments: plain, input: plain }))
/** A message of Chat Completions. What a provider thought and signed goes back to it as it came. */
const MESSAGE: Fields = fieldsOf({
  role: plain,
  name: plain,
  content: contentOf('chat'),
  refusal: plain,
  reasoning: plain,
  reasoning_content: plain,
  reasoning_details: echoed,
  tool_call_id: plain,
  function_call: called,
  tool_calls: listOf(
    objectOf(
      fieldsOf({
        id: plain,
        type: plain,
        index: plain,
        function: called,
        custom: called,
        extra_content: echoed,
        thought_signature: plain,
      }),
    ),
  ),
})

const SAID: Record<ModelWire, { readonly field: string; readonly check: Check }> = {
  responses: { field: 'input', check: (value, at, pictures) => (typeof value === 'string' ? value : items(value, at, pictures)) },
  chat: { field: 'messages', check: listOf(objectOf(MESSAGE)) },
}
const items = listOf((item, at, pictures) => {
  if (isJsonObject(item) && item['type'] === 'item_reference')
    throw wrongField(`${at}.type`, 'nothing is kept upstream: send the item itself, not a reference to it')
  // A message may go without saying so.
  const isMessage = isJsonObject(item) && (item['type'] ?? null) === null && (item['role'] ?? null) !== null
  return isMessage ? shaped(item, at, message, pictures) : typed(item, at, ITEMS, pictures)
})

/**
 * The request with what was said so far as it goes on: known items, messages and parts with their known fields, and nothing that a
 * provider would have to fetch. Throws `ModelRefusal` at the place that is at fault; adds up the pictures.
 */
export function passedSaid(body: JsonObject, wire: ModelWire, pictures: Pictures): JsonObject {
  const { field, check } = SAID[wire]
  const said: JsonValue = body[field] ?? null
  return said === null ? body : { ...body, [field]: check(said, field, pictures) }
}
