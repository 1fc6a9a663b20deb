import { messageOf, unlessAborted, within } from '@parley/protocol/wire'
import { openCallbackServer } from '@parley/rpc'
import * as oauth from 'oauth4webapi'
import { type OauthServer, authorizationServer, namedIssuers } from './discover.ts'
import { OauthError } from './oauth-error.ts'
import { isReachable, type OauthFetch, type OauthReach, oauthFetchIn, reachOf } from './oauth-fetch.ts'

/** What a sign-in gives, to be kept for the user alone. */
export interface OauthTokens {
  readonly access_token: string
  readonly refresh_token: string | null
  /** Milliseconds since 1970; null where the server did not say. */
  readonly expires_at: number | null
  readonly scope: string | null
  readonly client_id: string
  readonly client_secret: string | null
  readonly issuer: string
  /** Where the tokens came from, and the only place that they are renewed at; null: it was not kept. */
  readonly token_endpoint: string | null
  readonly resource: string
}

export interface SignInOptions {
  readonly server: OauthServer
  /** Of a client that is registered there already; left out, one is registered now. */
  readonly client?: { readonly id: string; readonly secret?: string }
  /** Default: what the server names. */
  readonly scopes?: readonly string[]
  /** Instead of the resource that the server names. */
  readonly resource?: string
  readonly clientName: string
  /** Shows the address to a person, or opens it. */
  readonly open: (authorizationUrl: string) => void
  readonly timeoutMs: number
  readonly callbackPort?: number
  readonly now: () => number
  readonly signal?: AbortSignal
}

/** Signs in with the browser (authorization code with PKCE). Throws `OauthError`. */
export async function signIn(options: SignInOptions): Promise<OauthTokens> {
  const { as } = options.server
  if (as.authorization_endpoint === undefined)
    throw new OauthError('unsupported', `${as.issuer} names no authorization_endpoint: it offers no sign-in by browser`)
  // It is opened in a browser: what a server names must not be a file, a script, or the page of somebody who listens.
  const page = URL.parse(as.authorization_endpoint)
  if (page === null || !isReachable(page))
    throw new OauthError('unsupported', `${as.issuer} names an authorization_endpoint that is not https: it is not opened`)
  if (as.code_challenge_methods_supported !== undefined && !as.code_challenge_methods_supported.includes('S256'))
    throw new OauthError('unsupported', `${as.issuer} does not support PKCE with S256`)
  const callback = await openCallbackServer(options.callbackPort)
  try {
    const client = await clientOf(options, callback.redirectUri)
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const resource = options.resource ?? options.server.resource
    const url = new URL(page)
    const scopes = options.scopes ?? options.server.scopes
    const asked = {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: callback.redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      resource,
      ...(scopes === undefined || scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    }
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value)
    options.open(url.href)
    const came = await inTime(callback.came, options)
    const answer = await said(as, async () => {
      const parameters = oauth.validateAuthResponse(as, client, came, state)
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        proofOf(client),
        parameters,
        callback.redirectUri,
        verifier,
        {
          ...reach(as),
          additionalParameters: { resource },
        },
      )
      return oauth.processAuthorizationCodeResponse(as, client, response)
    })
    return tokensOf(answer, { as, client, resource, now: options.now, refreshToken: null })
  } finally {
    await callback.close()
  }
}

/**
 * A new access token for one that is about to expire, from the server that gave it and from no other, whatever the MCP server
 * at `url` names now. Throws `OauthError`; `refused` and `moved` mean: sign in again.
 */
export async function refreshTokens(
  tokens: OauthTokens,
  url: string,
  now: () => number,
  where: OauthReach = {},
): Promise<OauthTokens> {
  const fetchIt = oauthFetchIn(where)
  const as = await serverOf(tokens, url, fetchIt)
  const { refresh_token: refreshToken, client_id, client_secret, resource } = tokens
  if (refreshToken === null) throw new OauthError('refused', 'the server gave nothing to renew the token with')
  const client: oauth.Client = { client_id, ...(client_secret === null ? {} : { client_secret }) }
  const answer = await said(as, async () => {
    const more = { ...reachOf(new URL(as.issuer), fetchIt), additionalParameters: { resource } }
    const response = await oauth.refreshTokenGrantRequest(as, client, proofOf(client), refreshToken, more)
    return oauth.processRefreshTokenResponse(as, client, response)
  })
  return tokensOf(answer, { as, client, resource, now, refreshToken })
}

/** The server that gave the tokens, if it is still the one that is named and where it was. */
async function serverOf(
  { issuer, token_endpoint: kept }: OauthTokens,
  url: string,
  fetchIt: OauthFetch,
): Promise<oauth.AuthorizationServer> {
  const named = await namedIssuers(url, fetchIt)
  if (named.length > 0 && !named.some((other) => isSameUrl(other, issuer)))
    throw new OauthError(
      'moved',
      `${url} names ${named.join(', ')} as its authorization server now, the token is of ${issuer}: nothing was sent`,
    )
  const as = await authorizationServer(new URL(issuer), fetchIt)
  if (as?.token_endpoint === undefined) throw new OauthError('unsupported', `${issuer} says nowhere that it renews tokens`)
  const isThere = kept === null ? isOfOrigin(as.token_endpoint, issuer) : isSameUrl(as.token_endpoint, kept)
  if (!isThere)
    throw new OauthError(
      'moved',
      `${issuer} names ${as.token_endpoint} for renewing tokens now, the token is of ${kept ?? issuer}: nothing was sent`,
    )
  return as
}

const isSameUrl = (one: string, other: string): boolean =>
  one === other || (URL.parse(one)?.href ?? one) === URL.parse(other)?.href
const isOfOrigin = (one: string, other: string): boolean => URL.parse(one)?.origin === URL.parse(other)?.origin

async function clientOf({ server, client, clientName }: SignInOptions, redirectUri: string): Promise<oauth.Client> {
  if (client !== undefined)
    return { client_id: client.id, ...(client.secret === undefined ? {} : { client_secret: client.secret }) }
  const { as } = server
  if (as.registration_endpoint === undefined)
    throw new OauthError('unsupported', `${as.issuer} registers no clients by itself: ask its owner for a client id`)
  const metadata = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  return said(as, async () =>
    oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, metadata, reach(as))),
  )
}

const proofOf = ({ client_secret: secret }: oauth.Client): oauth.ClientAuth =>
  typeof secret === 'string' ? oauth.ClientSecretPost(secret) : oauth.None()

const reach = (as: oauth.AuthorizationServer) => reachOf(new URL(as.issuer))

/** What the library throws, in words for a person. */
async function said<T>(as: oauth.AuthorizationServer, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    if (cause instanceof OauthError) throw cause
    if (cause instanceof oauth.ResponseBodyError || cause instanceof oauth.AuthorizationResponseError)
      throw new OauthError('refused', `${as.issuer} answered ${cause.error}: ${cause.error_description ?? 'no reason given'}`, {
        cause,
      })
    throw new OauthError('refused', `${as.issuer}: ${messageOf(cause)}`, { cause })
  }
}

async function inTime(callback: Promise<URLSearchParams>, { timeoutMs, signal }: SignInOptions): Promise<URLSearchParams> {
  const givenUp = (): Error => new OauthError('timed_out', 'the sign-in was given up')
  const came = await within(unlessAborted(callback, signal, givenUp), timeoutMs)
  if (came === undefined) throw new OauthError('timed_out', 'nobody signed in in time')
  return came
}

interface Granted {
  readonly as: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly resource: string
  readonly now: () => number
  readonly refreshToken: string | null
}

function tokensOf(answer: oauth.TokenEndpointResponse, { as, client, resource, now, refreshToken }: Granted): OauthTokens {
  return {
    access_token: answer.access_token,
    refresh_token: answer.refresh_token ?? refreshToken,
    expires_at: answer.expires_in === undefined ? null : now() + answer.expires_in * 1_000,
    scope: answer.scope ?? null,
    client_id: client.client_id,
    client_secret: typeof client.client_secret === 'string' ? client.client_secret : null,
    issuer: as.issuer,
    token_endpoint: as.token_endpoint ?? null,
    resource,
  }
}
