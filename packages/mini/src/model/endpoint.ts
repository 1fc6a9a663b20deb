import type { ModelEndpoint } from './model.ts'

const PATHS = { responses: '/responses', chat: '/chat/completions' } as const
/** Shorter ones are no secrets, and cutting them out would tear words apart. */
const SECRET_CHARACTERS = 6
const HEADER_VALUE = /^[\t\u0020-\u007e]*$/

/** An endpoint made ready: where requests go, what they carry, and how what must not be told is taken out of words. */
export interface ReadyEndpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly redact: (text: string) => string
}

/** Throws a `TypeError` that names the field when no request could ever be made. */
export function readyEndpoint({ wire, baseUrl, apiKey, headers = {} }: ModelEndpoint): ReadyEndpoint {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError('endpoint.baseUrl must be an http or https URL')
  if (apiKey !== null && !HEADER_VALUE.test(apiKey))
    throw new TypeError('endpoint.apiKey has characters that no header can carry')
  const odd = Object.entries(headers).find(([name, value]) => !/^[\w-]+$/.test(name) || !HEADER_VALUE.test(value))
  if (odd !== undefined) throw new TypeError(`endpoint.headers: ${odd[0]} cannot be sent`)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${PATHS[wire]}`
  const secrets = [apiKey ?? '', url.password, ...Object.values(headers), ...url.searchParams.values()]
  const basic = url.username === '' ? {} : { authorization: basicOf(url) }
  url.username = ''
  url.password = ''
  return {
    url: url.href,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...basic,
      ...(apiKey === null || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
      ...headers,
    },
    redact: redactor(secrets),
  }
}

const basicOf = ({ username, password }: URL): string =>
  `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}`

function redactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS).toSorted((one, other) => other.length - one.length)
  return (text) => long.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text)
}
