import type { HttpReply, HttpRequest, Route } from '@parley/rpc'
import { type Coding, codingFor } from './coding.ts'
import { problem } from './reply.ts'

/** One file of the page, by its path; `undefined` when there is none. */
export type PageFiles = (path: string) => PageFile | undefined
export interface PageFile {
  readonly body: Uint8Array | string
  readonly contentType: string
  readonly etag: string
  /** The same bytes compressed; a coding that saves nothing is left out. */
  readonly coded?: Readonly<Partial<Record<Coding, Uint8Array>>>
}

/** Only our own scripts, styles and connections; nobody may frame us; nothing is sniffed or told to others. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const

/** Built files carry a hash in their name and never change; everything else is asked for again each time. */
const HASHED = '/assets/'
const FOREVER = 'public, max-age=31536000, immutable'

/** The page. Paths it does not know are the page's own when a browser asks for one: it routes by itself. */
export function pageRoute(files: PageFiles): Route {
  return ({ method, path, headers }) => {
    if (isOurs(path)) return undefined
    if (method !== 'GET' && method !== 'HEAD')
      return problem(405, { code: 'method_not_allowed', message: 'use GET' }, { allow: 'GET, HEAD' })
    const file = files(path === '/' ? '/index.html' : path)
    if (file !== undefined) return reply(file, headers, path.startsWith(HASHED) ? FOREVER : 'no-cache')
    const wantsPage = headers.accept?.includes('text/html') === true && !path.startsWith(HASHED)
    const page = wantsPage ? files('/index.html') : undefined
    return page === undefined ? undefined : reply(page, headers, 'no-cache')
  }
}

/** Programs ask here: they need a plain 404, not a page. */
function isOurs(path: string): boolean {
  return ['/api', '/mcp', '/v1', '/.well-known'].some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
}

/**
 * The file as the client takes it. What is compressed is the same for everybody and holds no secret; answers that carry one
 * are made elsewhere and never compressed, so that nobody can guess at them by their length. Ranges are not served.
 */
function reply(file: PageFile, asked: HttpRequest['headers'], cacheControl: string): HttpReply {
  const { coded = {} } = file
  const coding = codingFor(asked['accept-encoding'], (name) => coded[name] !== undefined)
  // Each coding is other bytes, so it has another tag.
  const etag = coding === undefined ? file.etag : file.etag.replace(/"$/, `-${coding}"`)
  const headers = { ...PAGE_HEADERS, etag, vary: 'Accept-Encoding', 'cache-control': cacheControl }
  const isKnown = asked['if-none-match']?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
  if (isKnown === true) return { status: 304, headers }
  const content = { ...headers, 'content-type': file.contentType }
  const body = coding === undefined ? undefined : coded[coding]
  if (coding === undefined || body === undefined) return { status: 200, headers: content, body: file.body }
  return { status: 200, headers: { ...content, 'content-encoding': coding }, body }
}
