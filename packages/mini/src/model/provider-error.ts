import { type JsonObject, type JsonValue, isJsonObject, parseForeign } from '@parley/protocol'

/** What a provider said is wrong, whatever shape it gave it. Null where it said nothing. */
export interface ProviderError {
  /** The HTTP status, or the one that an error inside a stream names. */
  readonly status: number | null
  readonly code: string | null
  readonly type: string | null
  /** The field that it complains about. */
  readonly param: string | null
  readonly message: string
}

/** Reads the body of a refused request. */
export function readErrorBody(status: number, text: string): ProviderError {
  const parsed = parseForeign(text)
  // Some answer with a list of one.
  const body: JsonValue | undefined = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isJsonObject(body)) return { status, code: null, type: null, param: null, message: plain(text) }
  return readErrorObject(body, status)
}

/** Reads `{error: {…}}`, `{error: "…"}`, `{message}`, `{detail}`, and the object of an error itself. */
export function readErrorObject(body: JsonObject, status: number | null): ProviderError {
  const error = isJsonObject(body['error']) ? body['error'] : body
  const [first] = Array.isArray(body['detail']) ? body['detail'].filter(isJsonObject) : []
  const words = [error['message'], body['error'], body['message'], first?.['msg'], body['detail']]
  const message = words.find((word) => typeof word === 'string' && word !== '')
  const code = error['code'] ?? null
  return {
    // A number as code is the status of the provider behind the provider.
    status:
      status !== null && status >= 400
        ? status
        : (statusOf(code) ?? statusOf(error['status']) ?? statusOf(body['status']) ?? status),
    code: typeof code === 'string' ? code : null,
    type: textOf(error['type']),
    param: textOf(error['param']) ?? fieldOf(first?.['loc']),
    message: typeof message === 'string' ? message : JSON.stringify(body),
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const statusOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 400 && value <= 599 ? value : undefined

/** `["body", "stream_options"]` is how some name a field. */
function fieldOf(location: JsonValue | undefined): string | null {
  if (!Array.isArray(location)) return null
  const parts = location.filter((part) => part !== 'body').map(String)
  return parts.length === 0 ? null : parts.join('.')
}

/** Some send a web page instead of JSON: its text is kept, its tags are not. */
function plain(text: string): string {
  const words = text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words === '' ? 'nothing was said' : words
}
