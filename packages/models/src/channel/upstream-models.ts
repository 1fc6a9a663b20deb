import { ModelName, isJsonObject, parseForeign } from '@parley/protocol'
import { HttpCallFailed, type HttpFetcher, readText } from '@parley/fetch'
import { WireError } from '@parley/rpc'
import { Mask } from '../secret/mask.ts'

const ANSWER_MS = 3_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const MODELS_MAX = 2_000

export type UpstreamFault = 'upstream_unauthorized' | 'upstream_bad_response' | 'upstream_unavailable' | 'key_unreadable'

/** What came of asking an upstream for its models. `note` says what was left out. */
export type UpstreamModels =
  | { readonly kind: 'listed'; readonly models: readonly string[]; readonly note: string | null }
  | { readonly kind: 'failed'; readonly fault: UpstreamFault; readonly message: string }

/**
 * Asks an upstream for its models: one GET, three seconds from beginning to end, 4 MiB. Its own words are not passed on: some
 * repeat the key they were shown. A name that has the key in it is passed over.
 */
export async function askModels(
  http: HttpFetcher,
  request: { readonly url: string; readonly apiKey: string | null; readonly signal: AbortSignal },
): Promise<UpstreamModels> {
  const { url, apiKey } = request
  const over = new AbortController()
  const signal = AbortSignal.any([request.signal, over.signal, AbortSignal.timeout(ANSWER_MS)])
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'parley',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  }
  try {
    const { status, body } = await http.call({
      method: 'GET',
      url,
      headers,
      headersMs: ANSWER_MS,
      idleMs: ANSWER_MS,
      signal,
    })
    return status === 200
      ? readModels(await readText(body, ANSWER_BYTES_MAX), new Mask(apiKey))
      : refused(status, apiKey !== null)
  } catch (error) {
    return broken(error)
  } finally {
    // What is left of an answer that is not wanted would hold its connection.
    over.abort()
  }
}

function readModels(text: string, mask: Mask): UpstreamModels {
  const document = parseForeign(text)
  if (document === undefined) return failed('upstream_bad_response', 'the answer is not JSON')
  const list = isJsonObject(document) ? document['data'] : document
  if (!Array.isArray(list)) return failed('upstream_bad_response', 'the answer has no list `data` of models')
  const named = new Set(
    list
      .map((entry) => (isJsonObject(entry) ? entry['id'] : entry))
      .filter(isModelName)
      .filter((name) => mask.text(name) === name),
  )
  const models = [...named].slice(0, MODELS_MAX)
  const note = named.size > MODELS_MAX ? `only the first ${MODELS_MAX} of ${named.size} models are taken` : null
  return { kind: 'listed', models, note }
}

/** What a job could name: other entries of a list are passed over. */
function isModelName(value: unknown): value is string {
  return ModelName.safeParse(value).success && typeof value === 'string' && !/[\p{Cc}\p{Cf}]/u.test(value) && value.isWellFormed()
}

function refused(status: number, hasKey: boolean): UpstreamModels {
  if (status === 401 || status === 403)
    return failed('upstream_unauthorized', `it ${hasKey ? 'refuses the key' : 'wants a key'} (status ${status})`)
  if (status === 429 || status >= 500) return failed('upstream_unavailable', `it answered with status ${status}`)
  if (status === 404 || status === 405)
    return failed('upstream_bad_response', `it has no list of models there (status ${status}); ${NO_LIST}`)
  return failed('upstream_bad_response', `it answered with status ${status}`)
}
const NO_LIST =
  'its base URL is probably wrong (most end in /v1), or its models_path; where a provider has no list, models that an admin sets up by pricing.set can be asked for'

function broken(error: unknown): UpstreamModels {
  if (error instanceof WireError && error.code === 'too_large')
    return failed('upstream_bad_response', `the answer has more than ${ANSWER_BYTES_MAX} bytes`)
  if (!(error instanceof HttpCallFailed)) throw error
  if (error.code === 'aborted' || error.code === 'silent')
    return failed('upstream_unavailable', `no whole answer within ${ANSWER_MS / 1_000} s`)
  return failed('upstream_unavailable', error.message)
}

const failed = (fault: UpstreamFault, message: string): UpstreamModels => ({ kind: 'failed', fault, message })
