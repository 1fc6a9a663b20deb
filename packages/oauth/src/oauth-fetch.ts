import type { LookupFunction } from 'node:net'
import * as oauth from 'oauth4webapi'
import { Agent, fetch } from 'undici'
import { OauthError } from './oauth-error.ts'

const REQUEST_MS = 10_000
const CONNECT_MS = 5_000
/** Metadata and tokens are small; anything larger is not one. */
const BODY_BYTES = 256 * 1024

export interface OauthFetch {
  (url: string | URL, options?: FetchOptions): Promise<Response>
}
interface FetchOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Where requests may go, for whoever must not reach every address. */
export interface OauthReach {
  /** Throws for an address that is not to be dialled. */
  readonly check?: (url: string) => void
  /** Finds the addresses of a name that may be. */
  readonly lookup?: LookupFunction
}

/**
 * One request, never redirected, with a bound on time and size. Plain http is for loopback alone: what goes over it is
 * as good as a password.
 */
export const oauthFetchIn =
  ({ check, lookup }: OauthReach): OauthFetch =>
  async (url, { method = 'GET', headers = {}, body, signal } = {}) => {
    const target = new URL(url)
    if (!isReachable(target)) throw new OauthError('unsupported', `${target.origin} is not https, and not on this machine`)
    const connect = { timeout: CONNECT_MS, ...(lookup === undefined ? {} : { lookup }) }
    const dispatcher = new Agent({ connect, maxResponseSize: BODY_BYTES })
    try {
      check?.(target.href)
      const timeout = AbortSignal.timeout(REQUEST_MS)
      const answer = await fetch(target, {
        method,
        headers,
        redirect: 'manual',
        dispatcher,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        ...(typeof body === 'string' || body instanceof URLSearchParams ? { body: body.toString() } : {}),
      })
      // A server of events never ends; its head is all that is asked for.
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
      const text = isStream || answer.status === 204 ? null : await answer.text()
      return new Response(text === '' ? null : text, { status: answer.status, headers: [...answer.headers] })
    } catch (cause) {
      throw new OauthError('unreachable', `${target.origin} cannot be asked: ${reasonOf(cause)}`, { cause })
    } finally {
      void dispatcher.destroy()
    }
  }

export const oauthFetch: OauthFetch = oauthFetchIn({})

/** For the library: its own bar on plain http is lifted where ours in `oauthFetch` holds. The name is meant to stand out. */
export const reachOf = (issuer: URL, fetchIt: OauthFetch = oauthFetch) => ({
  [oauth.customFetch]: fetchIt,
  // oxlint-disable-next-line typescript/no-deprecated -- an authorization server on this very machine has no certificate
  [oauth.allowInsecureRequests]: isLoopbackHttp(issuer),
})

/** Https, or plain http on this machine. */
export const isReachable = (url: URL): boolean => url.protocol === 'https:' || isLoopbackHttp(url)

const isLoopbackHttp = (url: URL): boolean =>
  url.protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)

/** `fetch failed` says nothing; what lies below does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
