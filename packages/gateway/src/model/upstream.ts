import { isJsonObject, parseJson } from '@parley/protocol'
import { type HttpAnswer, type HttpCallFailed, type HttpCaller, type HttpReply, readText } from '@parley/rpc'
import type { ReachableModel } from '../channel/directory.ts'
import { upstreamUrl } from '../channel/upstream-url.ts'
import type { Asked } from './asked.ts'
import type { Mask } from './mask.ts'
import { JSON_HEADERS, ModelRefusal, errorBody } from './refusal.ts'

/** How long an upstream may think before its answer's head comes, and be silent inside the answer. */
const STREAM_HEADERS_MS = 5 * 60_000
const WHOLE_HEADERS_MS = 10 * 60_000
const IDLE_MS = 5 * 60_000
const ERROR_BYTES = 256 * 1024
const ERROR_SHOWN_CHARS = 1_000

const PATHS = { responses: '/responses', chat: '/chat/completions' } as const

/** Sends a request on. The key goes in the header that the channel's upstream reads, and nowhere else. */
export function askUpstream(
  http: HttpCaller,
  { channel, apiKey }: ReachableModel,
  asked: Asked,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  if (channel.baseUrl === null) throw new ModelRefusal(502, 'upstream_unreachable', 'the channel of this model has no address')
  return http.call({
    method: 'POST',
    url: upstreamUrl(channel.baseUrl, PATHS[asked.wire]),
    headers: {
      'content-type': 'application/json',
      accept: asked.stream ? 'text/event-stream' : 'application/json',
      // What is compressed could not be read as it passes.
      'accept-encoding': 'identity',
      'user-agent': 'parley',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: asked.text,
    headersMs: asked.stream ? STREAM_HEADERS_MS : WHOLE_HEADERS_MS,
    idleMs: IDLE_MS,
    signal,
  })
}

/** What a client is told when there was no answer at all. */
export function unansweredRefusal({ code, cause }: HttpCallFailed): ModelRefusal {
  if (code === 'silent') return new ModelRefusal(504, 'upstream_timeout', 'the model’s server did not answer in time', { cause })
  return code === 'unreachable'
    ? new ModelRefusal(502, 'upstream_unreachable', 'the model’s server cannot be reached', { cause })
    : new ModelRefusal(502, 'upstream_cut', 'the model’s server broke off before it answered', { cause })
}

/** Whether an answer is one that we can hand on and count; else what is wrong with it. */
export function answerFault({ status, headers }: HttpAnswer): ModelRefusal | undefined {
  if (status >= 300 && status < 400)
    return new ModelRefusal(502, 'upstream_redirected', `the model’s server sent us elsewhere (${status}); that is not followed`)
  if (status === 401)
    return new ModelRefusal(
      502,
      'upstream_unauthorized',
      'the model’s server does not take the key of the channel; an admin must set it anew',
    )
  if (status >= 400) return undefined
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = typeOf(headers)
  if (encoding !== 'identity' || (type !== 'text/event-stream' && type !== 'application/json'))
    return new ModelRefusal(502, 'upstream_bad_answer', 'the model’s server answered something that is neither events nor JSON')
  return undefined
}

export const typeOf = (headers: HttpAnswer['headers']): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const PASSED_HEADERS =
  /^(?:retry-after|retry-after-ms|x-request-id|openai-processing-ms|x-ratelimit-[a-z-]+|ratelimit(?:-[a-z]+)?)$/

/** Those of the upstream's headers that say something to the client. */
export function passedHeaders(headers: HttpAnswer['headers'], mask: Mask): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && PASSED_HEADERS.test(name)) passed[name] = mask.text(value)
  return passed
}

/** An upstream's refusal in its own words, without the key. What is no error of the usual shape is put into one. */
export async function errorReply(
  answer: HttpAnswer,
  mask: Mask,
): Promise<{ readonly reply: HttpReply; readonly usage: unknown }> {
  const text = mask.text(await readText(answer.body, ERROR_BYTES).catch(() => ''))
  const body = parseJson(text)
  const isUsual = isJsonObject(body) && isJsonObject(body['error'])
  const said = text.slice(0, ERROR_SHOWN_CHARS).trim()
  const wrapped = {
    message: `the model’s server answered ${answer.status}${said === '' ? '' : `: ${said}`}`,
    type: answer.status >= 500 ? 'server_error' : 'upstream_error',
    code: `upstream_${answer.status}`,
    param: null,
  }
  return {
    reply: {
      status: answer.status,
      headers: { ...JSON_HEADERS, ...passedHeaders(answer.headers, mask) },
      body: isUsual ? text : errorBody(wrapped),
    },
    usage: isJsonObject(body) ? body['usage'] : undefined,
  }
}
