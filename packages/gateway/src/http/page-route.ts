import type { HttpReply, Route } from '@parley/rpc'
import { problem } from './reply.ts'

/** One file of the page, by its path; `undefined` when there is none. */
export type PageFiles = (path: string) => PageFile | undefined
export interface PageFile {
  readonly body: Uint8Array | string
  readonly contentType: string
  readonly etag: string
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
    if (file !== undefined) return reply(file, headers['if-none-match'], path.startsWith(HASHED) ? FOREVER : 'no-cache')
    const wantsPage = headers.accept?.includes('text/html') === true && !path.startsWith(HASHED)
    const page = wantsPage ? files('/index.html') : undefined
    return page === undefined ? undefined : reply(page, headers['if-none-match'], 'no-cache')
  }
}

/** Programs ask here: they need a plain 404, not a page. */
function isOurs(path: string): boolean {
  return ['/api', '/mcp', '/v1', '/.well-known'].some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
}

function reply(file: PageFile, ifNoneMatch: string | undefined, cacheControl: string): HttpReply {
  const headers = { ...PAGE_HEADERS, etag: file.etag, 'cache-control': cacheControl }
  const isKnown = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === file.etag.replace(/^W\//, ''))
  if (isKnown === true) return { status: 304, headers }
  return { status: 200, headers: { ...headers, 'content-type': file.contentType }, body: file.body }
}
