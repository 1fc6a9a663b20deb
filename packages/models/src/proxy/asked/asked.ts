import { type JsonObject, type ModelWire, holdsAtMost, isJsonObject, parseJson } from '@parley/protocol'
import { BOUND_FIELD, passedFields, withUsage } from './fields.ts'
import { passedSaid } from './said.ts'
import { checkReferences } from './shape.ts'
import { checkTools } from './tools.ts'
import type { Pictures } from './pictures.ts'
import { ModelRefusal, wrongField } from '../refusal.ts'

/** A token of ordinary text has about so many bytes. */
export const BYTES_PER_TOKEN = 4
/** A picture costs about this much, however many bytes it has. */
const PICTURE_TOKENS = 1_500
const OUTPUT_TOKENS_MAX = 10_000_000
/** Where a request has JSON Schemas. */
const SCHEMA_FIELDS = ['tools', 'text', 'response_format'] as const

/** A request to a model, checked: what goes upstream and what it may come to. */
export interface Asked {
  readonly wire: ModelWire
  readonly stream: boolean
  /** The request as it was read. Sent anew and not as it came: two parsers could read one text in two ways. */
  readonly body: JsonObject
  readonly text: string
  /** Our own guess, before the upstream has counted. */
  readonly inputTokens: number
  /** The most that the client lets the model write; `undefined`: it set no bound. */
  readonly outputTokens: number | undefined
}

/** What a body costs goes by its values more than by its bytes, and it is read, walked and written again. */
const VALUES_MAX = 200_000

/** Checks a body against what the key and the wire allow. Throws `ModelRefusal` that names the field. */
export function readAsked(bytes: Buffer, wire: ModelWire, model: string): Asked {
  const said = bytes.toString('utf8')
  if (!holdsAtMost(said, VALUES_MAX))
    throw new ModelRefusal(413, 'request_too_large', `a request holds at most ${VALUES_MAX} values`)
  const body = parseJson(said)
  if (body === undefined) throw new ModelRefusal(400, 'invalid_json', 'the body is not JSON')
  if (!isJsonObject(body)) throw new ModelRefusal(400, 'invalid_json', 'the body is not a JSON object')
  checkModel(body['model'], model)
  const { stream = null } = body
  if (stream !== null && typeof stream !== 'boolean') throw wrongField('stream', 'must be true or false')
  const pictures = { count: 0, chars: 0 }
  const passed = passedSaid(passedFields(body, wire), wire, pictures)
  if (typeof (passed['instructions'] ?? '') !== 'string') throw wrongField('instructions', 'must be text')
  checkTools(body['tools'])
  for (const field of SCHEMA_FIELDS) checkReferences(passed[field], field)
  const outputTokens = outputBound(body, wire)
  const sent = wire === 'responses' ? { ...passed, store: false } : withUsage(passed, stream === true)
  const text = textOf(sent)
  return { wire, stream: stream === true, body: sent, text, inputTokens: inputTokens(text, pictures), outputTokens }
}

/** The same request with a bound on what the model writes, where the client set none. */
export function boundedAsked(asked: Asked, outputTokens: number): Asked {
  if (asked.outputTokens !== undefined) return asked
  const body = { ...asked.body, [BOUND_FIELD[asked.wire]]: outputTokens }
  return { ...asked, body, text: textOf(body) }
}

function checkModel(asked: unknown, model: string): void {
  if (typeof asked !== 'string') throw wrongField('model', `must be ${model}`)
  if (asked !== model)
    throw new ModelRefusal(404, 'model_not_found', `model: this key works for ${model} alone`, { param: 'model' })
}

function outputBound(body: JsonObject, wire: ModelWire): number | undefined {
  const fields = wire === 'responses' ? ['max_output_tokens'] : ['max_completion_tokens', 'max_tokens']
  let most: number | undefined
  for (const field of fields) {
    const value = body[field] ?? null
    if (value === null) continue
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > OUTPUT_TOKENS_MAX)
      throw wrongField(field, `must be a whole number from 1 to ${OUTPUT_TOKENS_MAX}`)
    // Which of two a provider keeps to is its own affair.
    most = Math.max(most ?? 0, value)
  }
  return most
}

function textOf(body: JsonObject): string {
  try {
    return JSON.stringify(body)
  } catch (error) {
    // JSON.parse reads deeper than JSON.stringify can write.
    if (error instanceof RangeError)
      throw new ModelRefusal(400, 'invalid_json', 'the body is nested too deeply', { cause: error })
    throw error
  }
}

function inputTokens(text: string, pictures: Pictures): number {
  const bytes = Buffer.byteLength(text) - pictures.chars
  return Math.ceil(bytes / BYTES_PER_TOKEN) + pictures.count * PICTURE_TOKENS
}
