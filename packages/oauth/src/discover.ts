import { messageOf } from '@parley/protocol/wire'
import * as oauth from 'oauth4webapi'
import { isReachable, type OauthFetch, oauthFetch, reachOf } from './oauth-fetch.ts'
import { OauthError } from './oauth-error.ts'

/** Where one signs in for an MCP server, and what the token is asked for. */
export interface OauthServer {
  readonly as: oauth.AuthorizationServer
  /** The resource that the token is for (RFC 8707). */
  readonly resource: string
  readonly scopes: readonly string[] | undefined
}

const BAD_REQUEST = 400

/** Looks for the authorization server of an MCP server. `undefined`: it has none. Throws `OauthError` `unreachable`. */
export async function discoverOauth(url: string): Promise<OauthServer | undefined> {
  const target = new URL(url)
  const challenge = await challengeOf(target)
  const metadata = await resourceMetadata(target, challenge)
  const issuer = metadata?.authorization_servers?.[0] ?? (challenge === undefined ? undefined : target.origin)
  // Without a word about OAuth only its old place is left: the origin of the server itself.
  const place = URL.parse(issuer ?? target.origin)
  if (place === null || !isReachable(place))
    throw new OauthError('unsupported', `${url} names an authorization server by what is no https address`)
  const as = await authorizationServer(place)
  if (as === undefined) {
    if (metadata === undefined) return undefined
    throw new OauthError('unsupported', `${issuer ?? target.origin} is named as the authorization server of ${url}, and is none`)
  }
  return { as, resource: metadata?.resource ?? target.href, scopes: metadata?.scopes_supported }
}

/** The authorization servers that an MCP server names at the moment; empty where it names none. They are not asked themselves. */
export async function namedIssuers(url: string, fetchIt: OauthFetch = oauthFetch): Promise<readonly string[]> {
  const target = new URL(url)
  return (await resourceMetadata(target, await challengeOf(target, fetchIt), fetchIt))?.authorization_servers ?? []
}

/** What the server says to somebody without a token: the address of its metadata, or nothing. */
async function challengeOf(
  target: URL,
  fetchIt: OauthFetch = oauthFetch,
): Promise<{ readonly metadata: URL | undefined } | undefined> {
  const answer = await fetchIt(target, { headers: { accept: 'text/event-stream, application/json' } })
  if (answer.status !== 401) return undefined
  const named = /resource_metadata="([^"]+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1]
  return { metadata: named === undefined ? undefined : (URL.parse(named) ?? undefined) }
}

async function resourceMetadata(
  target: URL,
  challenge: { readonly metadata: URL | undefined } | undefined,
  fetchIt: OauthFetch = oauthFetch,
): Promise<oauth.ResourceServer | undefined> {
  const path = target.pathname === '/' ? '' : target.pathname
  const places = [
    ...(challenge?.metadata === undefined ? [] : [challenge.metadata]),
    new URL(`/.well-known/oauth-protected-resource${path}`, target),
    new URL('/.well-known/oauth-protected-resource', target),
  ]
  for (const place of places) {
    const answer = await fetchIt(place, { headers: { accept: 'application/json' } })
    if (answer.status !== 200) continue
    const found = await readJson(answer)
    const { resource, authorization_servers: servers, scopes_supported: scopes } = found
    if (typeof resource !== 'string' || !covers(resource, target)) continue
    return {
      resource,
      ...(isTexts(servers) ? { authorization_servers: servers } : {}),
      ...(isTexts(scopes) ? { scopes_supported: scopes } : {}),
    }
  }
  return undefined
}

/** What an authorization server says about itself; `undefined`: nothing. */
export async function authorizationServer(
  issuer: URL,
  fetchIt: OauthFetch = oauthFetch,
): Promise<oauth.AuthorizationServer | undefined> {
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    const answer = await oauth.discoveryRequest(issuer, { algorithm, ...reachOf(issuer, fetchIt) })
    if (answer.status >= BAD_REQUEST) continue
    try {
      return await oauth.processDiscoveryResponse(issuer, answer)
    } catch (cause) {
      throw new OauthError('unsupported', `the metadata of ${issuer.origin} cannot be used: ${messageOf(cause)}`, { cause })
    }
  }
  return undefined
}

/** A token for another server must never be asked for in the name of this one. */
function covers(resource: string, target: URL): boolean {
  const named = URL.parse(resource)
  return named !== null && named.origin === target.origin && target.pathname.startsWith(named.pathname.replace(/\/$/, ''))
}

async function readJson(answer: Response): Promise<Record<string, unknown>> {
  const value: unknown = await answer.json().catch(() => undefined)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string')
