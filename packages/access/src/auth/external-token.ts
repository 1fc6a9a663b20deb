import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from 'jose'
import { Denied } from '@parley/rpc'
import type { ExternalIdentity, UserRecord, Users } from '@parley/store'
import { GatewayRefused } from '../failure.ts'
import { oddText } from '../odd-text.ts'
import { refused } from './bearer.ts'

/** Tokens of an identity provider: where its keys are, who it is, whom it must mean. */
export interface JwksOptions {
  readonly url: string
  readonly issuer: string
  readonly audience: string
  /**
   * A claim that holds our user's name, for people whom no admin has given an identity. Left out: none does. Many providers let
   * people edit such a claim, so it never yields an admin.
   */
  readonly claim?: string
}

/** Never a symmetric one: the public key would be the secret. Never `none`. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const FETCH_TIMEOUT_MS = 5_000
const REFETCH_AFTER_MS = 30_000
const KEYS_MAX_AGE_MS = 10 * 60_000
const CLOCK_SKEW_SECONDS = 30

export interface ExternalTokens {
  /** Whether the token says it is from this issuer; nothing else about it is believed before `verify`. */
  claims(token: string): boolean
  /** `identity` is null where only the name said who it is. */
  verify(
    token: string,
  ): Promise<{ readonly user: UserRecord; readonly identity: ExternalIdentity | null; readonly expiresAt: number }>
}

export function openExternalTokens(options: JwksOptions, users: Users, now: () => number): ExternalTokens {
  const keys = createRemoteJWKSet(checkedUrl(options), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: REFETCH_AFTER_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
  })
  return {
    claims(token) {
      try {
        return decodeJwt(token).iss === options.issuer
      } catch {
        return false
      }
    },
    async verify(token) {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer: options.issuer,
        audience: options.audience,
        requiredClaims: ['exp'],
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(now()),
      }).catch((error: unknown) => {
        throw denialOf(error)
      })
      const { sub, exp } = payload
      // Nobody here can be called so, and the database could not even look.
      if (oddText([sub, options.claim === undefined ? undefined : payload[options.claim]]) !== undefined)
        throw refused('unknown_token')
      const identity = sub === undefined || sub === '' ? null : { issuer: options.issuer, subject: sub }
      const known = identity === null ? undefined : await users.byIdentity(identity)
      const user = known ?? (await namedUser(users, options.claim === undefined ? undefined : payload[options.claim]))
      if (user === undefined || exp === undefined) throw refused('unknown_token')
      return { user, identity: known === undefined ? null : identity, expiresAt: exp * 1000 }
    },
  }
}

/** The user whom a claim names. Whoever has an identity is known by that alone, and an admin never by a name. */
async function namedUser(users: Users, name: unknown): Promise<UserRecord | undefined> {
  const user = typeof name === 'string' ? await users.byName(name) : undefined
  return user === undefined || user.admin || user.identity !== null ? undefined : user
}

/** Over plain HTTP anybody on the way could hand us their own keys; only this machine is that near. */
function checkedUrl(options: JwksOptions): URL {
  const url = URL.parse(options.url)
  const local = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)))
    throw new GatewayRefused('jwks_invalid', 'the JWKS URL must be an https:// URL')
  for (const field of ['issuer', 'audience', 'claim'] as const)
    if (options[field] === '') throw new GatewayRefused('jwks_invalid', `external tokens need ${field}`)
  return url
}

/** A bad token is refused; keys that cannot be had are our trouble, not the token's. */
function denialOf(error: unknown): Denied {
  if (error instanceof errors.JWTExpired) return refused('expired_token')
  const isTokensFault =
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  return isTokensFault
    ? refused('unknown_token')
    : new Denied(503, 'keys_unavailable', "the identity provider's keys cannot be fetched now; try again shortly", RETRY_SECONDS)
}

const RETRY_SECONDS = 5
