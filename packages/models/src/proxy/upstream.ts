import { isJsonObject, parseForeign } from '@parley/protocol'
import { type HttpAnswer, type HttpFetcher, readText } from '@parley/fetch'
import { type HttpReply } from '@parley/rpc'
import type { ReachableModel } from '../channel/directory.ts'
import { upstreamUrl } from '../channel/upstream-url.ts'
import type { Asked } from './asked/asked.ts'
import { redirected, wrongAddress } from './channel-refusal.ts'
import type { Mask } from '../secret/mask.ts'
import { JSON_HEADERS, ModelRefusal, errorBody } from './refusal.ts'
import { quoted, readSaid } from './upstream-words.ts'

/** How long an upstream may think before its answer's head comes, and be silent inside the answer. */
const STREAM_HEADERS_MS = 5 * 60_000
const WHOLE_HEADERS_MS = 10 * 60_000
const IDLE_MS = 5 * 60_000
const ERROR_BYTES = 256 * 1024

const PATHS = { responses: '/responses', chat: '/chat/completions' } as const

/** Sends a request on. The key goes in the header that the channel's upstream reads, and nowhere else. */
export function askUpstream(
  http: HttpFetcher,
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

/** Whether an answer is one that we can hand on and count; else what is wrong with it. */
export function answerFault({ status, headers }: HttpAnswer, reachable: ReachableModel): ModelRefusal | undefined {
  if (status >= 300 && status < 400) return redirected(reachable, status)
  if (status >= 400) return undefined
  const encoding = headers['content-encoding'] ?? 'identity'
  const type = typeOf(headers)
  const name = `channel ${reachable.channel.name}`
  if (type === 'text/html') return wrongAddress(reachable, `${name} answered with a web page (HTTP ${status}, text/html)`)
  if (encoding !== 'identity' || (type !== 'text/event-stream' && type !== 'application/json'))
    return wrongAddress(reachable, `${name} answered neither events nor JSON (HTTP ${status}, ${type || 'of no type'})`)
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

/** What an upstream said when it refused, as it said it: the key may be in it. */
export const readRefused = ({ body }: Pick<HttpAnswer, 'body'>): Promise<string> => readText(body, ERROR_BYTES).catch(() => '')

/** An upstream's refusal in its own words. What is no error of the usual shape is put into one. */
export function errorReply(answer: HttpAnswer, text: string, mask: Mask): { readonly reply: HttpReply; readonly usage: unknown } {
  const body = parseForeign(text)
  const isUsual = isJsonObject(body) && isJsonObject(body['error'])
  const said = quoted(readSaid(text).words, mask)
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
      body: isUsual ? mask.refusal(text) : errorBody(wrapped),
    },
    usage: isJsonObject(body) ? body['usage'] : undefined,
  }
}
