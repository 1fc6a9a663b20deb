import { type JsonObject, type ModelWire, isJsonObject } from '@parley/protocol'
import { wrongField } from '../refusal.ts'

/**
 * What goes on to a provider. Others are left out: one that nobody here knows could cost more than was set aside, keep
 * something, or fetch something with our key.
 */
const PASSED: Record<ModelWire, ReadonlySet<string>> = {
  responses: new Set([
    'include',
    'input',
    'instructions',
    'max_output_tokens',
    'max_tool_calls',
    'metadata',
    'model',
    'parallel_tool_calls',
    'prompt_cache_key',
    'reasoning',
    'safety_identifier',
    'stream',
    'stream_options',
    'temperature',
    'text',
    'tool_choice',
    'tools',
    'top_logprobs',
    'top_p',
    'truncation',
    'user',
  ]),
  chat: new Set([
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'max_completion_tokens',
    'max_tokens',
    'messages',
    'metadata',
    'model',
    'parallel_tool_calls',
    'presence_penalty',
    'prompt_cache_key',
    'reasoning',
    'reasoning_effort',
    'response_format',
    'safety_identifier',
    'seed',
    'stop',
    'stream',
    'stream_options',
    'temperature',
    'thinking',
    'tool_choice',
    'tools',
    'top_k',
    'top_logprobs',
    'top_p',
    'user',
    'verbosity',
  ]),
}

/** `store` is true upstream when it is left out; so it is always sent. */
const KEPT_UPSTREAM = ['background', 'store', 'previous_response_id', 'conversation', 'prompt'] as const
/** How fast a provider answers has prices of its own, which no list here has; this is the one that the prices are for. */
const TIERS: ReadonlySet<unknown> = new Set(['auto', 'default'])

/** The fields that go on. Throws `ModelRefusal` for one that is asked for and cannot be served. */
export function passedFields(body: JsonObject, wire: ModelWire): JsonObject {
  for (const field of KEPT_UPSTREAM)
    if (isSet(body, field) && body[field] !== false)
      throw wrongField(field, 'is not served here: nothing is kept upstream; send the whole conversation')
  if (isSet(body, 'service_tier') && !TIERS.has(body['service_tier']))
    throw wrongField('service_tier', 'only auto and default are served: other tiers have other prices')
  if (isSet(body, 'web_search_options')) throw wrongField('web_search_options', 'hosted tools are not served here')
  if (isSet(body, 'modalities') && JSON.stringify(body['modalities']) !== '["text"]')
    throw wrongField('modalities', 'only text is served here')
  if ((body['n'] ?? 1) !== 1) throw wrongField('n', 'one answer at a time')
  return Object.fromEntries(Object.entries(body).filter(([field]) => PASSED[wire].has(field)))
}

const isSet = (body: JsonObject, field: string): boolean => (body[field] ?? null) !== null

/** The field that bounds what a model writes. */
export const BOUND_FIELD = { responses: 'max_output_tokens', chat: 'max_completion_tokens' } as const

/** Chat Completions tell what a stream came to only when they are asked. */
export function withUsage(body: JsonObject, isStream: boolean): JsonObject {
  if (!isStream) return body
  const { stream_options: options } = body
  return { ...body, stream_options: { ...(isJsonObject(options) ? options : {}), include_usage: true } }
}
